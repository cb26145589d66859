# nokogiri's extension, what of it is not src/nokogiri: classes and their constructors, encodings, errors, SAX, Reader.
module Nokogiri
  module Gumbo; end
  module HTML4
    module SAX; end
  end
  module HTML5; end
  module XSLT; end

  # The behaviour is that of this version of libxml2, as far as it goes.
  LIBXML_COMPILED_VERSION = "2.9.14"
  LIBXML_LOADED_VERSION = "20914"
  LIBXSLT_COMPILED_VERSION = "1.1.35"
  LIBXSLT_LOADED_VERSION = "10135"
  PACKAGED_LIBRARIES = false
  PRECOMPILED_LIBRARIES = false
  LIBXML2_PATCHES = nil
  LIBXSLT_PATCHES = nil
  LIBXML_ICONV_ENABLED = true
  LIBXML_ZLIB_ENABLED = false
  LIBXML_HTTP_ENABLED = false
  LIBXSLT_DATETIME_ENABLED = false
  LIBXML_MEMORY_MANAGEMENT = "default"

  class SyntaxError < StandardError; end
  module XML
    class SyntaxError < ::Nokogiri::SyntaxError
      # From what the native found: [domain, code, level, line, column, message, str1, str2].
      def self.__from(row, file = nil)
        domain, code, level, line, column, message, str1, str2 = row
        e = new(message)
        { domain: domain, code: code, level: level, line: line, column: column, file: file, str1: str1, str2: str2, str3: nil, int1: 0 }.each do |name, value|
          e.instance_variable_set(:"@#{name}", value)
        end
        e
      end
    end
    module XPath
      class SyntaxError < XML::SyntaxError; end
    end
  end

  # Names of encodings as libxml2 takes them.
  class EncodingHandler
    @aliases = {}

    class << self
      # The handler of an encoding, by its name or another one that `alias` gave it; nil for unknown ones.
      def [](name)
        name = name.to_str
        real = @aliases[name.upcase] || name
        found = Encodings.find(real) or return
        handler = allocate
        handler.instance_variable_set(:@name, Encodings.canonical(real, found))
        handler
      end

      # Gives an encoding another name.
      def alias(name, other)
        @aliases[other.to_str.upcase] = name.to_str
        other
      end

      # Takes another name back: true, or nil if there was none.
      def delete(name) = @aliases.delete(name.to_str.upcase) ? true : nil

      # Takes all other names back.
      def clear_aliases!
        @aliases.clear
        self
      end

      def __aliased(name) = @aliases[name.upcase] || name
    end

    # `name`: The name of the encoding.
    attr_reader :name
  end

  # Texts in and out of UTF-8.
  module Encodings
    NAMES = { "UCS-4LE" => "UTF-32LE", "UCS-4BE" => "UTF-32BE", "UCS-2" => "UTF-16BE", "X-SJIS" => "Shift_JIS", "SHIFT-JIS" => "Shift_JIS", "CP932" => "Windows-31J",
              "LATIN1" => "ISO-8859-1", "UTF8" => "UTF-8", "ASCII" => "US-ASCII", "HTML" => "US-ASCII", "UTF-16" => "UTF-16", }.freeze
    private_constant :NAMES

    class << self
      def find(name)
        Encoding.find(NAMES[name.upcase] || name)
      rescue ArgumentError
        nil
      end

      def canonical(name, found)
        case found.name
        when "US-ASCII" then name.upcase == "HTML" ? "HTML" : "ASCII"
        when "UTF-8", "UTF-16LE", "UTF-16BE", "UTF-16", "ISO-8859-1" then found.name
        else name.upcase == name ? name : name.upcase
        end
      end

      # Text as UTF-8, and the name of the encoding that was found out; html: a byte that is none stands for itself in ISO 8859-1.
      def decode(text, name, html)
        bytes = text.b
        mark =
          if bytes.start_with?("\xEF\xBB\xBF".b) then bytes = bytes.byteslice(3..); "UTF-8"
          elsif bytes.start_with?("\xFF\xFE\0\0".b) then bytes = bytes.byteslice(4..); "UTF-32LE"
          elsif bytes.start_with?("\xFF\xFE".b) then bytes = bytes.byteslice(2..); "UTF-16LE"
          elsif bytes.start_with?("\xFE\xFF".b) then bytes = bytes.byteslice(2..); "UTF-16BE"
          elsif bytes.start_with?("<\0".b) then "UTF-16LE"
          elsif bytes.start_with?("\0<".b) then "UTF-16BE"
          end
        name = mark if mark && (name.nil? || mark != "UTF-8")
        declared = nil
        unless name || html
          declared = bytes[/\A<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/n, 1]
          declared = nil if declared && /\Autf-?16/i.match?(declared)
        end
        wanted = name || declared
        found = wanted && find(EncodingHandler.__aliased(wanted))
        unknown = wanted && found.nil?
        found ||= Encoding::UTF_8
        found = Encoding::UTF_16LE if found == Encoding::UTF_16
        utf8 = bytes.force_encoding(found)
        bad = !utf8.valid_encoding?
        utf8 =
          if found == Encoding::UTF_8 || found == Encoding::US_ASCII
            if !bad then utf8.force_encoding(Encoding::UTF_8)
            elsif html && !wanted
              # Without a word about it HTML is read as ISO 8859-1 from the first byte that is no UTF-8.
              utf8.force_encoding(Encoding::UTF_8).scrub { |b| b.force_encoding(Encoding::ISO_8859_1).encode(Encoding::UTF_8) }
            else
              utf8.force_encoding(Encoding::UTF_8).scrub { |b| html ? b.force_encoding(Encoding::ISO_8859_1).encode(Encoding::UTF_8) : "\u{FFFD}" }
            end
          else
            begin
              utf8.encode(Encoding::UTF_8, invalid: :replace, undef: :replace, replace: "\u{FFFD}")
            rescue Encoding::ConverterNotFoundError
              utf8.force_encoding(Encoding::UTF_8).scrub
            end
          end
        [utf8, wanted, bad, unknown]
      end

      def encode(text, name)
        encoding = name && find(EncodingHandler.__aliased(name)) or return text
        return text if encoding == Encoding::UTF_8
        return "\u{FEFF}#{text}".encode(Encoding::UTF_16LE).force_encoding(encoding) if encoding == Encoding::UTF_16
        text.encode(encoding, fallback: ->(c) { "&##{c.ord};" })
      rescue Encoding::ConverterNotFoundError
        text
      end
    end
  end
  private_constant :Encodings

  module XML
    class Node
      class << self
        # A new element of this name in the document; a block gets it.
        def new(name, document, *rest, &block)
          raise ArgumentError, "document must be a Nokogiri::XML::Node" unless Node === document
          unless Document === document
            warn("Passing a Node as the second parameter to Node.new is deprecated. Please pass a Document instead, or prefer an alternative constructor like Node#add_child. This will become an error in Nokogiri v1.17.0.", uplevel: 1, category: :deprecated)
            document = document.document
          end
          __made(1, name.to_str, document, nil, [name, document, *rest], &block)
        end

        private def __made(kind, name, document, content, args)
          node = (equal?(Node) ? Element : self).allocate
          node.__create(kind, name, document, content)
          node.__send__(:initialize, *args)
          yield node if block_given?
          node
        end
      end

      # Whether there is a node behind the object.
      def data_ptr? = __node?

      # Sets the text of the node.
      def native_content=(string)
        __content(string)
        string
      end

      private

      def native_write_to(io, encoding, indent, options)
        text = __serialize(encoding, indent, options)
        io.write(Encodings.encode(text, encoding))
        io
      end

      def dump_html = __serialize(document.encoding, "  ", 65)

      def in_context(text, options)
        set, problems = document.__parse_in(self, text, options)
        errors = problems.map { |p| SyntaxError.__from(p) }
        document.errors.concat(errors) if document.errors
        set
      end

      def process_xincludes(_options)
        raise NotImplementedError, "XInclude is not part of this runtime" if at_xpath(".//xi:include", "xi" => "http://www.w3.org/2001/XInclude")
        self
      end

      protected

      def safe_process_xinclude(_options)
        raise NotImplementedError, "XInclude is not part of this runtime"
      end

      public :__content, :__create
    end

    class Element < Node; end
    class CharacterData < Node; end

    class Comment < CharacterData
      # A new comment in the document; a block gets it.
      def self.new(document, content, *rest, &block)
        raise ArgumentError, "document must be a Nokogiri::XML::Node" unless Node === document
        __made(8, nil, document.document, content, [document, content, *rest], &block)
      end
    end

    class Text < CharacterData
      # A new text in the document; a block gets it.
      def self.new(content, document, *rest, &block)
        raise TypeError, "wrong argument type #{document.class} (expected Nokogiri::XML::Document)" unless Node === document
        unless Document === document
          warn("Passing a Node as the second parameter to Text.new is deprecated. Please pass a Document instead. This will become an error in Nokogiri v1.17.0.", uplevel: 1, category: :deprecated)
        end
        __made(3, nil, document.document, content.to_str, [content, document, *rest], &block)
      end
    end

    class CDATA < Text
      # A new CDATA section in the document; a block gets it.
      def self.new(document, content, *rest, &block)
        raise TypeError, "wrong argument type #{document.class} (expected Nokogiri::XML::Document)" unless Node === document
        unless Document === document
          warn("Passing a Node as the first parameter to CDATA.new is deprecated. Please pass a Document instead. This will become an error in Nokogiri v1.17.0.", uplevel: 1, category: :deprecated)
        end
        raise TypeError, "no implicit conversion of #{content.nil? ? "nil" : content.class} into String" unless content.respond_to?(:to_str)
        __made(4, nil, document.document, content.to_str, [document, content, *rest], &block)
      end
    end

    class ProcessingInstruction < Node
      # A new processing instruction in the document; a block gets it.
      def self.new(document, name, content, *rest, &block)
        raise ArgumentError, "document must be a Nokogiri::XML::Node" unless Node === document
        __made(7, name, document.document, content, [document, name, content, *rest], &block)
      end
    end

    class EntityReference < Node
      # A new reference to an entity in the document; a block gets it.
      def self.new(document, name, *rest, &block)
        raise ArgumentError, "document must be a Nokogiri::XML::Node" unless Node === document
        __made(5, name.to_str.sub(/\A&/, "").sub(/;\z/, ""), document.document, nil, [document, name, *rest], &block)
      end
    end

    class Attr < Node
      # A new attribute in the document; a block gets it.
      def self.new(document, name, *rest, &block)
        raise ArgumentError, "parameter must be a Nokogiri::XML::Document" unless Document === document
        __made(2, name.to_str, document, nil, [document, name, *rest], &block)
      end

      # Sets the value; nil leaves HTML's attribute without one.
      def value=(text)
        text.nil? && document.html? ? __bare! : __content(text.nil? ? "" : text.to_str)
        text
      end
    end

    class DocumentFragment < Node
      # A new fragment of the document.
      def self.native_new(document)
        node = allocate
        node.__create(11, nil, document, nil)
        node
      end
    end

    class DTD < Node
      # The public identifier, or nil.
      def external_id = __declaration[0]
      # The system identifier, or nil.
      def system_id = __declaration[1]

      # The declarations of entities by their names.
      def entities = __named(17)
      # The declarations of elements by their names.
      def elements = __named(15)
      # The declarations of attributes by their names.
      def attributes = __named(16)

      # The notations by their names.
      def notations = __notations.to_h { |name, public_id, system_id| [name, Notation.new(name, public_id, system_id)] }

      # NotImplementedError: there is no validation by a DTD.
      def validate(_document)
        raise NotImplementedError, "validation by a DTD is not part of this runtime"
      end

      private def __named(type) = children.select { |c| c.type == type }.to_h { |c| [c.name, c] }
    end

    class EntityDecl < Node
      INTERNAL_GENERAL = 1
      EXTERNAL_GENERAL_PARSED = 2
      EXTERNAL_GENERAL_UNPARSED = 3
      INTERNAL_PARAMETER = 4
      EXTERNAL_PARAMETER = 5
      INTERNAL_PREDEFINED = 6

      # The content of the entity, with references in it resolved.
      def content = __declaration[2]
      # The content of the entity as it was written.
      def original_content = __declaration[3]
      # The kind of entity: INTERNAL_GENERAL and the like.
      def entity_type = __declaration[4]
      # The public identifier, or nil.
      def external_id = __declaration[0]
      # The system identifier, or nil.
      def system_id = __declaration[1]
    end

    class AttributeDecl < Node
      # The type of the attribute.
      def attribute_type = __declaration[4]
      # The value that the attribute has when it is left out, or nil.
      def default = __declaration[2]
      # The values that the attribute may have.
      def enumeration = __declaration[6]
    end

    class ElementDecl < Node
      # The kind of content: empty, any, mixed, elements.
      def element_type = __declaration[4]

      # The declarations of its attributes.
      def attribute_nodes = parent ? parent.children.select { |c| c.type == 16 && c.__declaration[5] == name } : []

      # The prefix of the name, or nil.
      def prefix
        p, local = name.split(":", 2)
        p if local
      end

      # The content model, an ElementContent; nil for EMPTY and ANY.
      def content
        model = __declaration[6].first
        return if model.nil? || %w[EMPTY ANY].include?(model)
        ElementContent.__parse(document, model)
      end
    end

    class ElementContent
      # `name`: The name of the element, or nil.
      # `type`: The kind of the part: PCDATA 1, an element 2, a sequence 3, a choice 4.
      # `occur`: How often it occurs: once 1, at most once 2, any number of times 3, at least once 4.
      # `prefix`: The prefix of the name, or nil.
      attr_reader :name, :type, :occur, :prefix

      OCCURS = { "?" => 2, "*" => 3, "+" => 4 }.freeze
      private_constant :OCCURS

      class << self
        # A content model without blanks: a binary tree, as libxml2 has it.
        def __parse(document, model)
          tokens = model.scan(/[(),|?*+]|[^(),|?*+]+/)
          __particle(document, tokens)
        end

        def __particle(document, tokens)
          if tokens.first == "("
            tokens.shift
            parts = [__particle(document, tokens)]
            kind = nil
            while (t = tokens.shift) && t != ")"
              kind = t == "|" ? 4 : 3
              parts << __particle(document, tokens)
            end
            node = parts.pop
            node = __new(document, nil, kind, 1, parts.pop, node) until parts.empty?
          else
            name = tokens.shift.to_s
            node = name == "#PCDATA" ? __new(document, nil, 1, 1, nil, nil) : __new(document, name, 2, 1, nil, nil)
          end
          if (o = OCCURS[tokens.first])
            tokens.shift
            node.instance_variable_set(:@occur, o)
          end
          node
        end

        def __new(document, name, type, occur, c1, c2)
          node = allocate
          prefix, local = name&.split(":", 2)
          prefix, local = nil, prefix unless local
          { document: document, name: local, prefix: prefix, type: type, occur: occur, c1: c1, c2: c2 }.each { |k, v| node.instance_variable_set(:"@#{k}", v) }
          node
        end
      end

      private

      attr_reader :c1, :c2
    end

    # Files that documents name, where the program lets them be read (NOENT, DTDLOAD). Nothing comes from the net.
    module External
      class << self
        def read(system, url)
          return if system.match?(/\A[a-z]+:/i)
          base = url && !url.match?(/\A[a-z]+:/i) ? url[%r{\A.*/}m] : nil
          path = File.expand_path(system, base || ".")
          Encodings.decode(File.binread(path), nil, false).first if File.file?(path)
        end

        # [system identifier, text, ...] of the entities that texts declare.
        def entities(texts, url)
          texts.flat_map { |t| t.scan(/<!ENTITY\s+[^\s%>]+\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"([^"]*)"|'([^']*)')\s*>/m) }.flat_map do |a, b|
            text = read(a || b, url)
            text ? [a || b, text.sub(/\A<\?xml\s[^>]*\?>/, "")] : []
          end
        end
      end
    end
    private_constant :External

    class Document < Node
      class << self
        # A document without a root, of a version ("1.0").
        def new(*args)
          version = args.first || "1.0"
          document = allocate
          document.__open(false)
          document.__send__(:"__version=", version)
          document.__send__(:initialize, *args)
          document
        end

        # The document in a text; XML::SyntaxError if it is wrong and `options` do not say to recover.
        def read_memory(text, url, encoding, options)
          __read(text, url, encoding, options)
        end

        # The document that is read from an IO; XML::SyntaxError if it is wrong and `options` do not say to recover.
        def read_io(io, url, encoding, options)
          __read(__slurp(io), url, encoding, options)
        end

        private

        # The text of the file that the document type names.
        def __external_subset(text, url)
          system = text[/<!DOCTYPE\s+[^\s>\[]+\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+("[^"]*"|'[^']*')/m, 1]&.slice(1..-2)
          External.read(system, url) if system
        end

        def __slurp(io)
          text = +"".b
          while (part = io.read(4096)) && !part.empty?
            text << part.b
          end
          text
        end

        def __read(text, url, encoding, options)
          utf8, name, bad, unknown = Encodings.decode(text.to_str, encoding, false)
          document = allocate
          document.__open(false)
          document.encoding = name if encoding
          subset = options & 28 == 0 ? nil : __external_subset(utf8, url)
          entities = options & 2 == 0 ? [] : External.entities([utf8, subset].compact, url)
          problems = document.__parse_xml(utf8, options, subset, entities)
          document.encoding ||= name
          problems.unshift([1, 32, 2, 1, 1, "Unsupported encoding #{name}\n", name, nil]) if unknown
          problems << [1, 81, 3, 1, 1, "Input is not proper UTF-8, indicate encoding !\n", nil, nil] if bad
          document.__send__(:"__url=", url)
          document.__send__(:initialize)
          errors = problems.map { |p| SyntaxError.__from(p, url) }
          document.instance_variable_set(:@errors, errors)
          fatal = errors.any?(&:fatal?) || (!document.__root? && errors.any?)
          if options & 1 == 0 && fatal
            raise XML::SyntaxError.aggregate(errors) || XML::SyntaxError.new("Could not parse document")
          end
          document
        end
      end

      # Sets the root element, in place of one that is there; nil removes it.
      def root=(node)
        unless node.nil?
          raise ArgumentError, "expected Nokogiri::XML::Node but received #{node.class}" unless Node === node
          raise TypeError, "root must be a Nokogiri::XML::Element" unless node.type == 1
        end
        old = root
        if node && old
          return node if old == node
          old.__send__(:replace_node, node)
        elsif node
          __send__(:add_child_node, node)
        else
          old&.unlink
        end
        node
      end

      # Declares an entity; RuntimeError if that can't be.
      def create_entity(name, type = EntityDecl::INTERNAL_GENERAL, external_id = nil, system_id = nil, content = nil)
        __entity(name, type || EntityDecl::INTERNAL_GENERAL, external_id, system_id, content) or raise RuntimeError, "Could not create entity"
      end

      # Canonical XML 1.0 and 1.1, inclusive and exclusive, of what the block takes.
      def canonicalize(mode = 0, inclusive_namespaces = nil, with_comments = false, &block)
        mode ||= 0
        raise TypeError, "wrong argument type #{mode.class} (expected Integer)" unless Integer === mode
        raise "unknown mode of canonicalization" unless (0..2).cover?(mode)
        raise TypeError, "wrong argument type #{inclusive_namespaces.class} (expected Array)" unless inclusive_namespaces.nil? || Array === inclusive_namespaces
        raise "inclusive namespaces are exclusive canonicalization's" if inclusive_namespaces && mode != 1
        raise "relative namespace URIs can't be canonicalized" if XPathContext.new(self).evaluate("//namespace::*").to_a.any? { |n| n.href && !n.href.empty? && !n.href.include?(":") }
        Canonical.new(self, mode == 1, inclusive_namespaces || [], with_comments, block).to_s
      end
    end

    class XPathContext
      # A place from which XPath expressions are evaluated.
      def self.new(node)
        context = allocate
        context.instance_variable_set(:@node, node)
        context.instance_variable_set(:@namespaces, {})
        context.instance_variable_set(:@variables, {})
        context
      end

      def self.__deprecated(message) = warn(message, category: :deprecated)

      # Gives a namespace a prefix for expressions; nil takes it back.
      def register_ns(prefix, uri)
        uri.nil? ? @namespaces.delete(prefix.to_str) : @namespaces[prefix.to_str] = uri.to_str
        self
      end

      # Gives a variable a value for expressions; nil takes it back.
      def register_variable(name, value)
        value.nil? ? @variables.delete(name.to_str) : @variables[name.to_str] = value.to_str
        self
      end

      # Sets the node from which expressions are evaluated.
      def node=(node)
        @node = node
      end

      # What an expression answers: a NodeSet, a String, a number, true or false. `handler` has further functions.
      def evaluate(expression, handler = nil)
        @node.__evaluate(expression, @namespaces.to_a.flatten(1), @variables.to_a.flatten(1), handler)
      end
    end

    class Schema
      # NotImplementedError: there is no XML Schema.
      def self.from_document(*) = raise(NotImplementedError, "XML Schema is not part of this runtime")
    end

    class RelaxNG < Schema
      # NotImplementedError: there is no RELAX NG.
      def self.from_document(*) = raise(NotImplementedError, "RELAX NG is not part of this runtime")
    end
  end

  module HTML4
    class Document < XML::Document
      class << self
        # A document without a root, with a document type.
        def new(*args)
          uri, external = args
          document = allocate
          document.__open(true)
          if uri || external
            document.create_internal_subset("html", external, uri)
          else
            document.__default_dtd unless self <= HTML5::Document
          end
          document.__send__(:initialize, *args)
          document
        end

        private def __read(text, url, encoding, options)
          utf8, name, bad, = Encodings.decode(text.to_str, encoding, true)
          document = allocate
          document.__open(true)
          problems = document.__parse_html(utf8, options)
          problems << [5, 81, 2, 1, 1, "Invalid bytes in character encoding\n", nil, nil] if bad
          name ||= encoding
          document.encoding = name if name
          document.__send__(:"__url=", url)
          document.__send__(:initialize)
          errors = problems.map { |p| XML::SyntaxError.__from(p, url) }
          document.instance_variable_set(:@errors, errors)
          if options & 1 == 0 && errors.any?
            raise XML::SyntaxError, "Parser without recover option encountered error or warning: #{errors.first}"
          end
          document
        end
      end

      # 13, the number of HTML documents.
      def type = 13
    end

    class ElementDescription
      class << self
        # What is known of an element, by its name, or nil.
        def [](name)
          require "nokogiri/html4/element_description_defaults"
          key = name.to_str.downcase
          known = DefaultDescriptions[key] or return
          new = allocate
          new.instance_variable_set(:@known, known)
          new
        end
      end

      # The name of the element.
      def name = @known.name
      # What the element is for.
      def description = @known.desc
      # Whether the start tag may be left out.
      def implied_start_tag? = @known.startTag ? true : false
      # Whether the end tag may be left out.
      def implied_end_tag? = @known.endTag ? true : false
      # Whether the end tag is kept.
      def save_end_tag? = @known.saveEndTag ? true : false
      # Whether the element has no content.
      def empty? = @known.empty ? true : false
      # Whether the element is out of date.
      def deprecated? = @known.depr ? true : false
      # Whether the element stands in a line.
      def inline? = @known.isinline ? true : false
      # The elements that may stand in it.
      def sub_elements = @known.subelts
      # The element that is meant in it when none is named.
      def default_sub_element = @known.defaultsubelt
      # The attributes that it may have.
      def optional_attributes = @known.attrs_opt
      # The attributes that are out of date.
      def deprecated_attributes = @known.attrs_depr
      # The attributes that it has to have.
      def required_attributes = @known.attrs_req
    end

    class EntityLookup
      # The description of an entity by its name, or nil.
      def get(name)
        code = XML::Document.__entity_code(name.to_str) or return
        EntityDescription.new(code, name, __describe(name, code))
      end

      private def __describe(name, _code) = name
    end
  end

  module HTML5
    class Document < HTML4::Document; end
  end

  module Gumbo
    NAMESPACES = { "svg" => "http://www.w3.org/2000/svg", "math" => "http://www.w3.org/1998/Math/MathML", "html" => "http://www.w3.org/1999/xhtml" }.freeze
    private_constant :NAMESPACES

    class << self
      # The HTML5 document in a text; limits are of attributes, errors and depth.
      def parse(text, url, klass, max_attributes:, max_errors:, max_tree_depth:, parse_noscript_content_as_text: false)
        document = klass.allocate
        document.__open(true)
        quirks, errors = document.__parse_html5(text, [max_attributes, max_errors, max_tree_depth], parse_noscript_content_as_text, nil, nil)
        document.__send__(:initialize)
        document.instance_variable_set(:@url, url)
        document.instance_variable_set(:@quirks_mode, quirks)
        __errors(document, errors, url, text)
        document
      end

      # Reads a text into the fragment, as if it stood in the context: an element or its name.
      def fragment(fragment, text, context, max_attributes:, max_errors:, max_tree_depth:, parse_noscript_content_as_text: false)
        document = fragment.document
        about = __context(context, document)
        depth = max_tree_depth < 0 ? max_tree_depth : max_tree_depth + 1
        quirks, errors = document.__parse_html5(text, [max_attributes, max_errors, depth], parse_noscript_content_as_text, fragment, about)
        fragment.instance_variable_set(:@quirks_mode, quirks)
        __errors(fragment, errors, "#fragment", text)
        nil
      end

      private

      def __errors(owner, errors, file, text)
        return if errors.empty?
        lines = text.lines
        list = errors.map do |line, message|
          shown = "#{line}:1: ERROR: #{message}\n#{lines[line - 1].to_s.chomp}\n^"
          XML::SyntaxError.__from([1, 1, 2, line, 1, shown, "generic-parser", nil], file)
        end
        owner.instance_variable_set(:@errors, list)
      end

      def __context(context, document)
        form = integration = false
        quirks = 0
        case context
        when nil
          name, href = "body", NAMESPACES["html"]
        when String
          prefix, local = context.include?(":") ? context.split(":", 2) : [nil, context]
          if prefix
            href = NAMESPACES[prefix.downcase] or raise ArgumentError, "Invalid context namespace '#{prefix}'"
          else
            href = %w[svg math].include?(local.downcase) ? NAMESPACES[local.downcase] : NAMESPACES["html"]
          end
          name = local
          form = href == NAMESPACES["html"] && name.casecmp?("form")
        else
          name = context.name
          href = __namespace(context) or raise ArgumentError, "Unexpected namespace URI \"#{context.namespace.href}\""
          node = context
          while node
            if node.element? && node.name.casecmp?("form") && __namespace(node) == NAMESPACES["html"]
              form = true
              break
            end
            node = node.respond_to?(:parent) ? node.parent : nil
          end
          integration = href == NAMESPACES["math"] && name.casecmp?("annotation-xml") && %w[text/html application/xhtml+xml].include?(context["encoding"].to_s.downcase)
          if document.respond_to?(:quirks_mode) && document.quirks_mode
            quirks = document.internal_subset.nil? ? 1 : document.quirks_mode
          end
        end
        name = name.downcase if href == NAMESPACES["html"]
        [name, href, form, integration, quirks]
      end

      def __namespace(node)
        href = node.namespace&.href or return NAMESPACES["html"]
        NAMESPACES.value?(href) ? href : nil
      end
    end
  end

  # The extension's own for its suite: libxml2's handlers of errors, which are the process's, and here there are none.
  module Test
    def self.__foreign_error_handler(&_) = nil
  end

  module XSLT
    # NotImplementedError: there is no XSLT.
    def self.register(*) = raise(NotImplementedError, "XSLT is not part of this runtime")

    class Stylesheet
      # NotImplementedError: there is no XSLT.
      def self.parse_stylesheet_doc(*) = raise(NotImplementedError, "XSLT is not part of this runtime")
    end
  end
end
