# Pages from a template: Strings that grow, interpolation, escapes, blocks over Arrays and Hashes.
require "erb"

TEMPLATE = <<~'PAGE'
  <h1><%= ERB::Util.h(title) %></h1>
  <ul>
  <% items.each_with_index do |item, i| %>
    <li class="<%= i.even? ? "even" : "odd" %>"><%= ERB::Util.h(item[:name]) %>: <%= item[:count] * 2 %>
    <% item[:tags].each do |tag, weight| %><b><%= tag %>=<%= weight %></b><% end %></li>
  <% end %>
  </ul>
PAGE

class Page
  attr_reader :title, :items

  def initialize(title, items)
    @title = title
    @items = items
  end

  ERB.new(TEMPLATE, trim_mode: "<>").def_method(self, "render()")
end

items = (0...60).map { |i| { name: "item <#{i}>", count: i, tags: { "a#{i}" => i, "b" => i * 3 } } }
size = 0
15000.times { |n| size += Page.new("Page & #{n}", items).render.size }
puts size
