# A gem server for tests: gems that are made on the spot, and what RubyGems and Bundler ask for (compact index, quick specifications, gems).
require "rubygems"
require "rubygems/package"
require "socket"
require "digest"
require "zlib"
require "fileutils"

class GemServer
  attr_reader :port, :requests

  # With a context of OpenSSL's it speaks https.
  def initialize(dir, context = nil)
    @dir, @gems, @requests, @context = dir, [], [], context
    @socket = TCPServer.new("127.0.0.1", 0)
    @port = @socket.addr[1]
    @thread = Thread.new { loop { Thread.new(@socket.accept) { |client| serve(client) } } }
  end

  def url = "http#{"s" if @context}://127.0.0.1:#{port}"

  # Makes a gem of files, and serves it. Block: the specification.
  def gem(name, version, files = {})
    files = { "lib/#{name.tr("-", "/")}.rb" => "module #{name.split(/[-_]/).map(&:capitalize).join}; VERSION = #{version.inspect}; end\n" }.merge(files)
    at = File.join(@dir, "#{name}-#{version}")
    files.each do |path, text|
      file = File.join(at, path)
      FileUtils.mkdir_p(File.dirname(file))
      File.write(file, text)
      File.chmod(0o755, file) if text.start_with?("#!")
    end
    spec = Gem::Specification.new(name, version) do |s|
      s.summary, s.authors, s.files, s.licenses, s.homepage = "A gem", ["A"], files.keys, ["MIT"], "https://example.com"
      s.required_ruby_version = ">= 3.0"
      yield s if block_given?
    end
    Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Dir.chdir(at) { Gem::Package.build(spec, true) } }
    file = File.join(at, spec.file_name)
    @gems << [spec, file]
    file
  end

  def stop
    @thread.kill
    @socket.close
  end

  private

  def serve(client)
    client = OpenSSL::SSL::SSLSocket.new(client, @context, sync_close: true).accept if @context
    verb, path = client.gets.to_s.split
    nil while (line = client.gets) && line != "\r\n"
    @requests << path
    body = content(path)
    head = body ? "200 OK" : "404 Not Found"
    body ||= "no such thing"
    client.write "HTTP/1.1 #{head}\r\nContent-Length: #{body.bytesize}\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n"
    client.write body unless verb == "HEAD"
  rescue SystemCallError, IOError
    nil
  rescue StandardError => e
    raise unless @context && e.is_a?(OpenSSL::SSL::SSLError)
  ensure
    client.close
  end

  def content(path)
    case path
    when "/" then ""
    when "/names" then "---\n#{@gems.map { |s, _| s.name }.uniq.join("\n")}\n"
    when "/versions"
      lines = @gems.group_by { |s, _| s.name }.map { |name, list| "#{name} #{list.map { |s, _| number(s) }.join(",")} #{Digest::MD5.hexdigest(info(name))}" }
      "created_at: 2026-01-01T00:00:00Z\n---\n#{lines.join("\n")}\n"
    when %r{\A/info/(.+)} then info($1)
    when %r{\A/gems/(.+)} then (found = @gems.find { |s, _| s.file_name == $1 }) && File.binread(found[1])
    when %r{\A/quick/Marshal\.4\.8/(.+)\.gemspec\.rz} then (found = @gems.find { |s, _| s.full_name == $1 }) && Zlib::Deflate.deflate(Marshal.dump(found[0]))
    when %r{\A/(latest_|prerelease_)?specs\.4\.8\.gz} then Zlib.gzip(Marshal.dump($1 == "prerelease_" ? [] : @gems.map { |s, _| [s.name, s.version, s.original_platform.to_s] }))
    end
  end

  def number(spec) = spec.platform == "ruby" ? spec.version.to_s : "#{spec.version}-#{spec.platform}"

  def info(name)
    list = @gems.select { |s, _| s.name == name }
    return if list.empty?
    "---\n" + list.map do |s, file|
      needs = s.runtime_dependencies.map { |d| "#{d.name}:#{d.requirement.to_s.gsub(", ", "&")}" }.join(",")
      "#{number(s)} #{needs}|checksum:#{Digest::SHA256.file(file).hexdigest},ruby:#{s.required_ruby_version}\n"
    end.join
  end
end
