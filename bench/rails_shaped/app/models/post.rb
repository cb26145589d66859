class Post < ApplicationRecord
  belongs_to :author, counter_cache: true
  has_many :comments, -> { order(:id) }, dependent: :delete_all
  enum :status, {draft: 0, published: 1}
  validates :title, presence: true, length: {maximum: 40}
  validates :price, numericality: {greater_than_or_equal_to: 0}, allow_nil: true
  normalizes :title, with: -> { it.strip }
  scope :recent, -> { order(published_at: :desc, id: :asc) }

  def as_json(*) = super(only: %i[id title price status meta published_at]).merge("author" => author.name, "comments" => comments.size)
end
