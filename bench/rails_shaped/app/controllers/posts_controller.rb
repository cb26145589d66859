class PostsController < ApplicationController
  skip_forgery_protection
  before_action :find, only: %i[show update destroy]

  def index
    @posts = Post.includes(:author, :comments).recent.limit((params[:limit] || 10).to_i)
    @posts = @posts.where(status: params[:status]) if params[:status]
    respond_to do |format|
      format.html
      format.json { render json: @posts }
    end
  end

  def show
    respond_to do |format|
      format.html
      format.json { render json: @post if stale?(etag: @post.as_json) }
    end
  end

  def create
    author = Author.find_or_create_by!(name: params.expect(:author))
    @post = author.posts.create!(attributes)
    render json: @post, status: :created, location: post_url(@post)
  end

  def update
    Post.transaction do
      @post.update!(attributes)
      @post.comments.create!(text: "updated")
      raise ActiveRecord::Rollback if params[:dry]
    end
    render json: @post.reload
  end

  def destroy
    @post.destroy!
    head :no_content
  end

  private

  def find = @post = Post.find(params[:id])
  def attributes = params.expect(post: [:title, :body, :price, :status, {meta: {}}])
end
