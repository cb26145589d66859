# What nokogiri tells event by event: SAX parsers, push parsers, and the Reader, which walks a tree.
module Nokogiri
  module XML
    module SAX
      # Calls a handler's methods for what a parser tells.
      module Driver
        def self.run(events, document, html)
            while (event = events.shift)
            problems(events, document)
            call(events, document, html, event)
          end
          problems(events, document)
        end

        def self.problems(events, document)
          events.problems.each do |p|
            p[2] == 1 ? document.warning(p[5]) : document.error(p[5])
          end
        end

        def self.call(events, document, html, event)
          case event[0]
          when :text then document.characters(event[1])
          when :cdata then document.cdata_block(event[1])
          when :comment then document.comment(event[1])
          when :pi then document.processing_instruction(event[1], event[2])
          when :reference
            content = events.entity(event[1])
            document.characters(content) if content
            document.reference(event[1], content)
          when :xmldecl then document.xmldecl(event[1], event[2], event[3])
          when :start
            _, name, prefix, uri, attributes, definitions = event
            if html
              document.start_element(name, attributes.map { |a| [a[0], a[3]] })
            else
              attributes.map! { |a| XML::SAX::Parser::Attribute.new(*a) }
              document.start_element_namespace(name, attributes, prefix, uri, definitions)
            end
          when :end
            html ? document.end_element(event[1]) : document.end_element_namespace(event[1], event[2], event[3])
          end
        end
      end
      private_constant :Driver

      class Parser
        private def initialize_native; end
      end

      class ParserContext
        class << self
          # The context of a parser of a text; RuntimeError for an empty one.
          def native_memory(text, encoding)
            raise TypeError, "wrong argument type #{text.nil? ? "nil" : text.class} (expected String)" unless text.respond_to?(:to_str)
            text = text.to_str
            raise TypeError, "wrong argument type #{encoding.class} (expected Encoding)" unless encoding.nil? || Encoding === encoding
            raise "input string cannot be empty" if text.empty?
            __with(text, encoding)
          end

          # The context of a parser that reads from an IO.
          def native_io(io, encoding)
            raise TypeError, "argument expected to respond to :read" unless io.respond_to?(:read)
            raise TypeError, "wrong argument type #{encoding.class} (expected Encoding)" unless encoding.nil? || Encoding === encoding
            context = __with(nil, encoding)
            context.instance_variable_set(:@io, io)
            context
          end

          # The context of a parser of a file.
          def native_file(path, encoding)
            raise TypeError, "wrong argument type #{encoding.class} (expected Encoding)" unless encoding.nil? || Encoding === encoding
            context = __with(File.binread(path), encoding)
            context.instance_variable_set(:@path, path)
            context
          end

          private def __with(text, encoding)
            context = allocate
            context.instance_variable_set(:@text, text)
            context.instance_variable_set(:@encoding, encoding)
            context.instance_variable_set(:@options, 0)
            context
          end
        end

        # Whether references to entities are replaced.
        def replace_entities = @options & 2 != 0
        # Whether the parser goes on after errors.
        def recovery = @options & 1 != 0

        # Sets whether references to entities are replaced.
        def replace_entities=(on)
          @options = on ? @options | 2 : @options & ~2
        end

        # Sets whether the parser goes on after errors.
        def recovery=(on)
          @options = on ? @options | 1 : @options & ~1
        end

        # The line that is read, from 1; nil before parsing.
        def line = @events&.place&.first
        # The column that is read, from 1; nil before parsing.
        def column = @events&.place&.last

        # Calls the methods of the parser's document for all that the text has.
        def parse_with(parser)
          raise ArgumentError, "argument must be a Nokogiri::XML::SAX::Parser" unless XML::SAX::Parser === parser
          document = parser.document
          text = @text
          unless text
            text = +"".b
            while (part = @io.read(4000)) && !part.empty?
              text << part.b
            end
          end
          name = @encoding&.name || (HTML4::EncodingReader.detect_encoding(text.b) if __html?)
          utf8, = Encodings.decode(text, name, __html?)
          @events = Events.allocate.__open(__html?, utf8, @options, true, @options & 2 == 0 ? [] : External.entities([utf8], @path))
          # The declaration comes before the document's beginning.
          event = @events.shift
          if event && event[0] == :xmldecl
            Driver.call(@events, document, __html?, event)
            event = nil
          end
          document.start_document
          Driver.call(@events, document, __html?, event) if event
          Driver.run(@events, document, __html?)
          document.end_document
          nil
        end

        private def __html? = false
      end

      class PushParser
        # The options of the parser, bits of ParseOptions.
        def options = @options || 0
        # Whether references to entities are replaced.
        def replace_entities = options & 2 != 0

        # Sets the options of the parser.
        def options=(bits)
          @options = bits
          @events&.__send__(:"options=", bits)
        end

        # Sets whether references to entities are replaced.
        def replace_entities=(on)
          self.options = on ? options | 2 : options & ~2
        end

        private

        def initialize_native(parser, _file = nil, _encoding = nil)
          @sax_parser = parser
          @options ||= 0
          @pending = +"".b
          @began = @done = false
        end

        def native_write(chunk, last)
          chunk = chunk.nil? ? "" : chunk.to_str
          handler = @sax_parser.document
          text = (@pending + chunk.b)
          # A character may be cut in two.
          text = text.force_encoding(Encoding::UTF_8)
          @pending = +"".b
          unless last || text.valid_encoding?
            tail = text[-1]
            if tail && !tail.valid_encoding? && text.byteslice(0, text.bytesize - tail.bytesize).valid_encoding? && tail.bytesize < 4
              @pending = tail.b
              text = text.byteslice(0, text.bytesize - tail.bytesize)
            end
          end
          broken = !text.valid_encoding?
          text = text.scrub { |b| b.force_encoding(Encoding::ISO_8859_1).encode(Encoding::UTF_8) }
          if @events
            @events.feed(text, last ? true : false)
          else
            @events = Events.allocate.__open(__html?, text, @options, last ? true : false)
          end
          unless @began || (text.empty? && !last)
            event = @events.shift
            if event || last
              @began = true
              if event && event[0] == :xmldecl
                Driver.call(@events, handler, __html?, event)
                event = nil
              end
              handler.start_document
              Driver.call(@events, handler, __html?, event) if event
            end
          end
          handler.error("Input is not proper UTF-8, indicate encoding !\n") if broken
          while (event = @events.shift)
            Driver.call(@events, handler, __html?, event)
          end
          @events.problems.each do |p|
            p[2] == 1 ? handler.warning(p[5]) : handler.error(p[5])
            @failed ||= p if p[2] == 3
          end
          if last && @began && !@done
            @done = true
            handler.end_document
          end
          # From then on each call tells of it.
          raise XML::SyntaxError.__from(@failed) if @failed && options & 1 == 0
          self
        end

        def __html? = false
      end
    end

    # A cursor over a tree that was read as a whole.
    class Reader
      class << self
        # A reader of a text; ArgumentError for nil.
        def from_memory(text, url = nil, encoding = nil, options = nil)
          raise ArgumentError, "string cannot be nil" if text.nil?
          __over(text, text.to_str, url, encoding, options)
        end

        # A reader of what an IO has; ArgumentError for nil.
        def from_io(io, url = nil, encoding = nil, options = nil)
          raise ArgumentError, "io cannot be nil" if io.nil?
          __over(io, nil, url, encoding, options)
        end

        private def __over(source, text, url, encoding, options)
          reader = allocate
          reader.__send__(:initialize, source, url, encoding)
          reader.__send__(:__begin, text, url, encoding, options)
          reader
        end
      end

      # Goes to the next node: the reader itself, or nil at the end. XML::SyntaxError if the text is wrong.
      def read
        __load unless @document
        @node, @ended = __next
        if @node.nil?
          @state = 3
          unless @reported
            @reported = true
            fatal = @document.errors.find(&:fatal?)
            __raise(fatal) if fatal && @options & 1 == 0
          end
          return
        end
        # What is wrong is told where it stands.
        if @options & 1 == 0 && !@reported && (fatal = @document.errors.find(&:fatal?)) && (fatal.line || 0) <= @node.line && @node.type != 1
          @reported = true
          __raise(fatal)
        end
        @state = 1
        @attribute = nil
        self
      end

      # `state`: 0 before the first node, 1 at a node, 3 at the end.
      attr_reader :state

      # The number of the node's type: TYPE_ constants.
      def node_type
        return 0 unless @node
        return 15 if @ended
        case @node.type
        when 3 then /\A\s*\z/.match?(@node.content) ? 14 : 3
        when 14 then 10
        else @node.type
        end
      end

      # The name of the node with its prefix: "#text" for texts.
      def name
        return unless @node
        case @node.type
        when 3 then "#text"
        when 4 then "#cdata-section"
        when 8 then "#comment"
        else (p = prefix) ? "#{p}:#{@node.name}" : @node.name
        end
      end

      # The name of the node without its prefix.
      def local_name
        return unless @node
        [3, 4, 8].include?(@node.type) ? name : @node.name
      end

      # The prefix of the element, or nil.
      def prefix = @node && @node.type == 1 ? @node.namespace&.prefix : nil
      # The namespace of the element, or nil.
      def namespace_uri = @node && @node.type == 1 ? @node.namespace&.href : nil
      # The text of texts, comments and the like, or nil.
      def value = @node && [3, 4, 7, 8].include?(@node.type) ? @node.content : nil
      # Whether the node has a text.
      def value? = !value.nil?
      # How many elements the node is in.
      def depth = @node ? @depth : 0
      # Whether the element has no content.
      def empty_element? = !!(@node && @node.type == 1 && @node.children.empty? && !@ended)
      # False: attributes that a DTD gives are not told apart.
      def default? = false
      # The language of the node, by `xml:lang`, or nil.
      def lang = @node&.lang
      # The version in the document's declaration.
      def xml_version = @document&.version
      # The encoding of the document.
      def encoding = @document ? @declared || @encoding || "UTF-8" : @encoding
      # The address by which addresses in the node are meant, by `xml:base`, or nil.
      def base_uri = @node && __base(@node)

      # Whether the element has attributes or declares namespaces.
      def attributes? = !!(@node && @node.type == 1 && (@node.attribute_nodes.any? || @node.namespace_definitions.any?))
      # The number of attributes, declarations of namespaces included.
      def attribute_count = attributes? && !@ended ? __all.length : 0
      # The value of an attribute by its place, or nil.
      def attribute_at(index) = index && @node && @node.type == 1 ? __all[index]&.last : nil
      # A Hash of the attributes' values by their names.
      def attribute_hash = @node && @node.type == 1 ? @node.attribute_nodes.to_h { |a| [__qualified(a), a.value] } : {}

      # The value of an attribute by its name, or nil.
      def attribute(name)
        return if name.nil? || @node.nil? || @node.type != 1
        name = name.to_str
        __all.find { |n, _| n == name }&.last
      end

      # A Hash of the namespaces that the element declares.
      def namespaces
        return {} unless @node && @node.type == 1
        @node.namespace_definitions.to_h { |n| [["xmlns", n.prefix].compact.join(":"), n.href] }
      end

      # The text of what is in the element.
      def inner_xml = @node && @node.type == 1 ? @node.children.map { |c| __text(c) }.join : (@node ? "" : nil)
      # An end tag stands for its element alone.
      def outer_xml = @node && (@ended ? __text(@node.dup(0)) : __text(@node))

      private

      def __begin(text, url, encoding, options)
        @text, @url, @encoding, @options = text, url, encoding, options || 0
        @state = 0
      end

      def __raise(error)
        errors.is_a?(Array) or raise TypeError, "wrong argument type #{errors.class} (expected Array)"
        errors << error
        raise error
      end

      def __load
        text = @text || @source.read.to_s
        @document =
          if text.empty?
            __raise(SyntaxError.__from([1, 4, 3, 1, 1, "Document is empty", nil, nil]))
          else
            Document.read_memory(text, @url, @encoding, @options | 1)
          end
        @errors.concat(@document.errors) if @options & 1 != 0
        @declared = text.b[/\A<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/n, 1]
        @stack = nil
        @depth = 0
      end

      # The next node, and whether it ends.
      def __next
        if @stack.nil?
          first = @document.child
          @stack = true
          return first, false
        end
        return unless @node
        if !@ended && @node.type == 1 && (c = @node.child)
          @depth += 1
          return c, false
        end
        if (s = @node.next_sibling)
          return s, false
        end
        up = @node.parent
        return if up.nil? || up.document?
        @depth -= 1
        [up, true]
      end

      def __all = @node.namespace_definitions.map { |n| [["xmlns", n.prefix].compact.join(":"), n.href] } + @node.attribute_nodes.map { |a| [__qualified(a), a.value] }
      def __qualified(a) = (p = a.namespace&.prefix) ? "#{p}:#{a.name}" : a.name
      def __text(node) = node.__serialize("UTF-8", "  ", 32)

      def __base(node)
        bases = node.ancestors.to_a.unshift(node).filter_map { |n| n.type == 1 ? n.attribute_with_ns("base", "http://www.w3.org/XML/1998/namespace")&.value : nil }
        bases.reverse.inject(@url) do |outer, base|
          require "uri"
          outer ? URI.join(outer, base).to_s : base
        rescue URI::Error
          base
        end
      end
    end
  end

  module HTML4
    module SAX
      class Parser < XML::SAX::Parser; end

      class ParserContext < XML::SAX::ParserContext
        private def __html? = true
      end

      class PushParser < XML::SAX::PushParser
        private def __html? = true
      end
    end
  end
end
