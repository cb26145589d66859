# A Rails application of everyday shape: routes, controllers with filters, sessions and forged-request protection, ERB views with a layout, partials and helpers, JSON, models
# with associations, validations, callbacks and transactions over SQLite. Loaded by Zeitwerk from app/.
ENV["RAILS_ENV"] ||= "production"

# Gems come from checkouts in the load path, so there is nothing for `gem` to choose; Bundler takes it away in the same manner.
module Kernel
  private def gem(*) = false
end

require "rails"
require "active_model/railtie"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"

class Blog < Rails::Application
  config.root = __dir__
  config.load_defaults 8.0
  config.eager_load = true
  config.secret_key_base = "0123456789abcdef" * 4
  config.logger = ActiveSupport::Logger.new(ENV["BLOG_LOG"] || File::NULL, level: ENV["BLOG_LOG"] ? :debug : :warn)
  config.hosts.clear
  config.consider_all_requests_local = false
  config.action_dispatch.show_exceptions = :all
  config.session_store :cookie_store, key: "_blog"
  config.public_file_server.enabled = false
  config.time_zone = "UTC"

  routes.append do
    root to: "posts#index"
    resources :posts, only: %i[index show create update destroy] do
      resources :comments, only: %i[index create]
    end
    get "/visits", to: "session#visits"
    get "/token", to: "session#token"
    post "/guarded", to: "session#guarded"
    get "/boom", to: "session#boom"
    get "/memory", to: "session#memory"
  end
end

module BlogDatabase
  def self.create
    ActiveRecord::Migration.verbose = false
    ActiveRecord::Schema.define do
      create_table :authors, force: true do |t|
        t.string :name, null: false, index: {unique: true}
        t.integer :posts_count, default: 0, null: false
      end
      create_table :posts, force: true do |t|
        t.references :author, null: false
        t.string :title, null: false
        t.text :body
        t.decimal :price, precision: 8, scale: 2
        t.integer :status, default: 0, null: false
        t.json :meta
        t.datetime :published_at
        t.integer :lock_version, default: 0
      end
      create_table :comments, force: true do |t|
        t.references :post, null: false
        t.string :text, null: false
        t.boolean :spam, default: false, null: false
      end
    end
    Author.transaction do
      5.times do |a|
        author = Author.create!(name: "Author #{a}")
        10.times do |i|
          post = author.posts.create!(title: "Post #{a}.#{i}", body: "Text of <b>#{i}</b> & more. " * 20, price: "#{i}.#{a}5", status: i % 2, meta: {"tags" => %w[x y z].first(i % 3 + 1), "n" => i},
                                      published_at: Time.utc(2026, 1, 1 + i, a))
          (i % 4).times { |c| post.comments.create!(text: "Comment #{c} on #{i}") }
        end
      end
    end
  end
end
