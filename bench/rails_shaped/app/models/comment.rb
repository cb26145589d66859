class Comment < ApplicationRecord
  belongs_to :post
  validates :text, presence: true
  before_save { self.spam = text.match?(/casino/i) }
  scope :ham, -> { where(spam: false) }
end
