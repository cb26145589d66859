class CommentsController < ApplicationController
  skip_forgery_protection

  def index = render(json: post.comments.ham.pluck(:id, :text))
  def create = render(json: post.comments.create!(text: params.require(:text)).slice(:text, :spam), status: :created)

  private

  def post = @post ||= Post.find(params[:post_id])
end
