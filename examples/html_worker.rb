# A worker of html_farm.rb: compiles the templates it is asked for once, renders pages until it gets nil.

require_relative "template"

templates, requests, pages = RubyVM::ARGV
compiled = {}

while (request = requests.recv)
  number, name, locals = request
  begin
    page = compiled[name] ||= Template.compile(templates.fetch(name), locals.keys, name)
    pages << [number, page.render(**locals)]
  rescue StandardError, ScriptError => e
    pages << [number, nil, "#{e.class}: #{e.message}"]
  end
end
