# psych: the installed Ruby's files over the native half, then what psych 5.3 does otherwise than psych 4.
psych_file = $LOAD_PATH.map { |dir| File.join(dir.to_s, "psych.rb") }.find { |f| File.file?(f) }
raise LoadError.new("cannot load such file -- psych").tap { |e| e.instance_variable_set(:@path, "psych") } unless psych_file

require "date"
require "psych/syntax_error"
require psych_file

if Psych::VERSION.to_i < 5
  module Psych
    remove_const(:VERSION)
    VERSION = "5.3.1"

    class AliasesNotEnabled < BadAlias
      def initialize(message = "Alias parsing was not enabled. To enable it, pass `aliases: true` to `Psych::load` or `Psych::safe_load`.")
        super
      end
    end

    class AnchorNotDefined < BadAlias
      def initialize(name)
        super("An alias referenced an unknown anchor: #{name}")
      end
    end

    class ClassLoader
      DATA = "Data"

      def data = load(DATA)
    end

    # Options of scalars that psych 4 doesn't know, and its patterns of Integers.
    class ScalarScanner
      decimal = '(?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)'
      remove_const(:INTEGER) if const_defined?(:INTEGER, false)
      INTEGER_LEGACY = /^[-+]?(?:0b[_,]*[01][01_,]*|0[_,]*[0-7][0-7_,]*|#{decimal}|0x[_,]*\h[\h_,]*)$/
      INTEGER_STRICT = /^[-+]?(?:0b_*[01][01_]*|0_*[0-7][0-7_]*|0|[1-9][0-9_]*|0x_*\h[\h_]*)$/
      INTEGER = INTEGER_LEGACY

      module Options
        def initialize(class_loader, strict_integer: false, parse_symbols: true)
          super(class_loader)
          @strict_integer = strict_integer
          @parse_symbols = parse_symbols
        end

        def tokenize(string)
          return string if !@parse_symbols && string.is_a?(String) && string.match?(/\A:./) && !string.match?(/\A\s|\n/)
          if @strict_integer && string.is_a?(String) && !string.include?("\n") && string.match?(INTEGER_LEGACY)
            return string.match?(INTEGER_STRICT) ? parse_int(string) : string
          end
          if string.is_a?(String) && string.match?(/\A\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)\z/)
            begin
              return class_loader.date.strptime(string, "%F", Date::GREGORIAN)
            rescue ArgumentError
              return string
            end
          end
          super
        end
      end
      prepend Options
    end

    class Nodes::Node
      def to_ruby(symbolize_names: false, freeze: false, strict_integer: false, parse_symbols: true)
        Visitors::ToRuby.create(symbolize_names:, freeze:, strict_integer:, parse_symbols:).accept(self)
      end
      alias transform to_ruby
    end

    module Visitors
      class ToRuby
        DATA_INITIALIZE = Data.instance_method(:initialize)
        private_constant :DATA_INITIALIZE

        def self.create(symbolize_names: false, freeze: false, strict_integer: false, parse_symbols: true)
          loader = ClassLoader.new
          new(ScalarScanner.new(loader, strict_integer:, parse_symbols:), loader, symbolize_names:, freeze:)
        end

        def visit_Psych_Nodes_Alias(node)
          @st.fetch(node.anchor) { raise AnchorNotDefined, node.anchor }
        end

        module Later
          def visit_Psych_Nodes_Mapping(node)
            return super unless node.tag && !Psych.load_tags[node.tag] && (match = node.tag.match(%r{\A!ruby/data(-with-ivars)?(?::(.*))?\z}))
            object = register(node, resolve_class(match[2]).allocate) if match[2]
            members, ivars = {}, {}
            if match[1]
              node.children.each_slice(2) do |kind, pairs|
                case accept(kind)
                when "members"
                  data_members(members, pairs)
                  object ||= register(node, class_loader.data.define(*members.keys).allocate)
                when "ivars" then revive_hash(ivars, pairs)
                end
              end
            else
              data_members(members, node)
            end
            object ||= register(node, class_loader.data.define(*members.keys).allocate)
            ivars.each { |name, value| object.instance_variable_set(name, value) }
            DATA_INITIALIZE.bind_call(object, **members)
            object.freeze
          end

          private

          def data_members(members, node)
            node.children.each_slice(2) { |key, value| members[class_loader.symbolize(accept(key))] = accept(value) }
          end

          def deserialize(node)
            case node.tag
            when "!ruby/regexp"
              klass = resolve_class("Regexp")
              match = %r{\A/(.*)/([mixn]*)\z}m.match(node.value) or return super
              flags, language = 0, nil
              match[2].each_char do |c|
                case c
                when "x" then flags |= Regexp::EXTENDED
                when "i" then flags |= Regexp::IGNORECASE
                when "m" then flags |= Regexp::MULTILINE
                when "n" then flags |= Regexp::NOENCODING
                end
              end
              klass.new(match[1].gsub('\/', "/"), flags)
            when "!ruby/object:DateTime"
              class_loader.date_time
              t = @ss.parse_time(node.value)
              DateTime.civil(*t.to_a[0, 6].reverse, Rational(t.utc_offset, 86_400)) + t.subsec / 86_400
            else
              super
            end
          end
        end
        prepend Later
      end

      class NoAliasRuby
        def visit_Psych_Nodes_Alias(_node)
          raise AliasesNotEnabled
        end
      end

      class YAMLTree
        # By identity: BasicObjects have no object_id.
        class Registrar
          def initialize
            @ids, @nodes = {}.compare_by_identity, {}.compare_by_identity
          end

          def register(target, node) = @nodes[target] = node
          def key?(target) = @nodes.key?(target)
          def id_for(target) = @ids[target] ||= @ids.size + 1
          def node_for(target) = @nodes[target]
        end

        def visit_Data(o)
          ivars = o.instance_variables
          register(o, @emitter.start_mapping(nil, ["!ruby/data#{"-with-ivars" if ivars.any?}", o.class.name].compact.join(":"), false, Nodes::Mapping::BLOCK))
          if ivars.any?
            accept("members")
            @emitter.start_mapping(nil, nil, true, Nodes::Mapping::BLOCK)
          end
          o.members.each do |name|
            @emitter.scalar(name.to_s, nil, nil, true, false, Nodes::Scalar::ANY)
            accept(o.public_send(name))
          end
          if ivars.any?
            @emitter.end_mapping
            accept("ivars")
            @emitter.start_mapping(nil, nil, true, Nodes::Mapping::BLOCK)
            ivars.each do |name|
              accept(name.to_s)
              accept(o.instance_variable_get(name))
            end
            @emitter.end_mapping
          end
          @emitter.end_mapping
        end

        def visit_Date(o)
          register(o, @emitter.scalar(o.strftime("%Y-%m-%d"), nil, nil, true, false, Nodes::Scalar::ANY))
        end

        def visit_DateTime(o)
          t = o.italy
          text = t.strftime(t.offset.zero? ? "%Y-%m-%d %H:%M:%S.%9N Z" : "%Y-%m-%d %H:%M:%S.%9N %:z")
          register(o, @emitter.scalar(text, nil, "!ruby/object:DateTime", false, false, Nodes::Scalar::ANY))
        end

        module Later
          def visit_String(o)
            return super unless o.instance_of?(String) && (o == "Y" || o == "N")
            @emitter.scalar(o, nil, nil, true, true, Nodes::Scalar::DOUBLE_QUOTED)
          end

          def visit_Hash(o)
            return super unless @options[:stringify_names] && o.instance_of?(Hash)
            register(o, @emitter.start_mapping(nil, nil, true, Nodes::Mapping::BLOCK))
            o.each do |key, value|
              accept(key.is_a?(Symbol) ? key.to_s : key)
              accept(value)
            end
            @emitter.end_mapping
          end
        end
        prepend Later
      end

      class RestrictedYAMLTree
        def accept(target)
          if !@aliases && @st.key?(target)
            raise BadAlias, "Tried to dump an aliased object"
          end
          unless target.is_a?(Symbol) || @permitted_classes[target.class]
            raise DisallowedClass.new("dump", target.class.name || target.class.inspect)
          end
          YAMLTree.instance_method(:accept).bind_call(self, target)
        end

        def visit_Symbol(symbol)
          unless @permitted_classes[Symbol] || @permitted_symbols[symbol]
            raise DisallowedClass.new("dump", "Symbol(#{symbol.inspect})")
          end
          super
        end
      end
    end

    class << self
      def unsafe_load(yaml, filename: nil, fallback: false, symbolize_names: false, freeze: false, strict_integer: false, parse_symbols: true)
        result = parse(yaml, filename:)
        return fallback unless result
        result.to_ruby(symbolize_names:, freeze:, strict_integer:, parse_symbols:)
      end

      def safe_load(yaml, permitted_classes: [], permitted_symbols: [], aliases: false, filename: nil, fallback: nil, symbolize_names: false,
                    freeze: false, strict_integer: false, parse_symbols: true)
        result = parse(yaml, filename:)
        return fallback unless result
        loader = ClassLoader::Restricted.new(permitted_classes.map(&:to_s), permitted_symbols.map(&:to_s))
        scanner = ScalarScanner.new(loader, strict_integer:, parse_symbols:)
        visitor = aliases ? Visitors::ToRuby : Visitors::NoAliasRuby
        visitor.new(scanner, loader, symbolize_names:, freeze:).accept(result)
      end

      def load(yaml, permitted_classes: [Symbol], **options) = safe_load(yaml, permitted_classes:, **options)

      def safe_load_stream(yaml, filename: nil, permitted_classes: [], aliases: false)
        documents = parse_stream(yaml, filename:).children.map do |child|
          stream = Nodes::Stream.new
          stream.children << child
          safe_load(stream.to_yaml, permitted_classes:, aliases:)
        end
        return documents unless block_given?
        documents.each { |document| yield document }
        nil
      end
    end
  end

  class Set
    def encode_with(coder)
      coder["hash"] = to_h { |member| [member, true] }
    end

    def init_with(coder)
      replace(coder["hash"].keys)
    end
  end
end
