# Renders HTML pages from templates: one master VM, N worker VMs, one channel of requests and one of finished pages.
#
#   ./run examples/html_farm.rb [-n WORKERS] [-p PAGES] [-e ELEMENTS] [--show]
#
# Without -e it renders PAGES small pages (1 element) and PAGES large ones (100 elements), as a web site's mix does.
# Prints the number of pages, bytes and a checksum for each kind; they depend neither on WORKERS nor on who did what.
# Where there is no RubyVM::Channel (plain CRuby) the master renders everything itself: the same output, one core.

require_relative "template"

TEMPLATES = {
  "list" => <<~'HTML',
    <!DOCTYPE html>
    <html>
    <head><title><%= title %></title></head>
    <body>
    <%# every item is a Hash %>
    <h1><%= title %></h1>
    <% if items.empty? %>
    <p>Nothing here.</p>
    <% else %>
    <ul>
    <% items.each_with_index do |item, i| %>
      <li class="<%= i.odd? ? 'odd' : 'even' %>"><a href="/items/<%= item[:id] %>"><%= item[:name] %></a>: <%= '%.2f' % item[:price] %> €</li>
    <% end %>
    </ul>
    <% end %>
    <footer><%== note %></footer>
    </body>
    </html>
  HTML
  "table" => <<~'HTML'
    <table>
    <caption><%= title %> (<%= items.size %>)</caption>
    <% items.each do |item| %>
    <tr><td><%= item[:id] %></td><td><%= item[:name].upcase %></td><td><%= item[:price].round(1) %></td></tr>
    <% end %>
    <tr><td colspan="3"><%= items.sum { |item| item[:price] }.round(2) %></td></tr>
    </table>
    <p><%== note %></p>
  HTML
}.freeze

workers = 4
pages = 400
sizes = [1, 100]
show = false
usage = "usage: html_farm.rb [-n WORKERS] [-p PAGES] [-e ELEMENTS] [--show]"
until ARGV.empty?
  option = ARGV.shift
  if option == "--show"
    show = true
    next
  end
  abort usage unless %w[-n -p -e].include?(option)
  number = Integer(ARGV.shift || abort(usage), exception: false)
  abort "html_farm: #{option} needs a number, zero or more" unless number && number >= 0
  case option
  when "-n" then workers = number
  when "-p" then pages = number
  when "-e" then sizes = [number]
  end
end
abort "html_farm: at least one worker" if workers == 0

def request(number, elements)
  items = Array.new(elements) do |i|
    { id: number * 1000 + i, name: "Item <#{i}> & \"co\" #{(number + i) % 17}", price: (number + i * 7) % 1000 / 8.0 }
  end
  [number, number.even? ? "list" : "table", { title: "Page #{number} – small & large", items: items, note: "<b>#{number}</b>" }]
end

def checksum(html)
  html.each_byte.inject(7) { |sum, byte| (sum * 31 + byte) & 0xffffffff }
end

parallel = defined?(RubyVM::Channel)
if parallel
  requests = RubyVM::Channel.new
  finished = RubyVM::Channel.new
  vms = Array.new(workers) do |i|
    vm = RubyVM.new("html-#{i}", File.join(__dir__, "html_worker.rb"))
    vm.start(TEMPLATES, requests, finished)
    vm
  end
else
  compiled = Hash.new { |h, name| h[name] = Template.compile(TEMPLATES.fetch(name), %i[title items note], name) }
end

sizes.each do |elements|
  html = Array.new(pages)
  if parallel
    # No more than a few requests per worker under way: the queue stays short however many pages there are.
    sent = 0
    received = 0
    while received < pages
      while sent < pages && sent - received < workers * 4
        requests << request(sent, elements)
        sent += 1
      end
      number, page, error = finished.recv
      abort "html_farm: page #{number}: #{error}" if error
      html[number] = page
      received += 1
    end
  else
    pages.times do |number|
      _, name, locals = request(number, elements)
      html[number] = compiled[name].render(**locals)
    end
  end
  sum = html.inject(0) { |total, page| (total * 33 + checksum(page)) & 0xffffffff }
  puts "#{pages} pages of #{elements} elements: #{html.sum(&:bytesize)} bytes, checksum #{sum.to_s(16)}"
  puts html.first(2) if show
end

if parallel
  workers.times { requests << nil }
  vms.each(&:join)
end
