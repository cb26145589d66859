# OpenSSL::ASN1: BER and DER, read and written here.
module OpenSSL
  module ASN1
    class ASN1Error < OpenSSLError; end

    UNIVERSAL_TAG_NAME = [
      "EOC", "BOOLEAN", "INTEGER", "BIT_STRING", "OCTET_STRING", "NULL", "OBJECT", "OBJECT_DESCRIPTOR", "EXTERNAL", "REAL", "ENUMERATED", "EMBEDDED_PDV", "UTF8STRING", "RELATIVE_OID",
      nil, nil, "SEQUENCE", "SET", "NUMERICSTRING", "PRINTABLESTRING", "T61STRING", "VIDEOTEXSTRING", "IA5STRING", "UTCTIME", "GENERALIZEDTIME", "GRAPHICSTRING",
      "ISO64STRING", "GENERALSTRING", "UNIVERSALSTRING", "CHARACTER_STRING", "BMPSTRING"
    ].freeze
    UNIVERSAL_TAG_NAME.each_with_index { |name, tag| const_set(name, tag) if name }

    CLASSES = [:UNIVERSAL, :APPLICATION, :CONTEXT_SPECIFIC, :PRIVATE].freeze
    # Indefinite lengths that end nowhere, and structures without end, are refused.
    DEPTH = 200
    private_constant :CLASSES, :DEPTH

    class ASN1Data
      # `value`: What it holds: bytes, or an Array of elements.
      # `tag`: The number of its tag.
      # `tag_class`: `:UNIVERSAL`, `:APPLICATION`, `:CONTEXT_SPECIFIC` or `:PRIVATE`.
      # `indefinite_length`: Whether it ends by a mark, not after a length.
      attr_accessor :value, :tag, :tag_class, :indefinite_length
      alias infinite_length indefinite_length
      alias infinite_length= indefinite_length=

      # Data with a tag and its class.
      def initialize(value, tag, tag_class)
        raise ASN1Error, "invalid tag class" unless tag_class.is_a?(Symbol)
        @value, @tag, @tag_class, @indefinite_length = value, tag, tag_class, false
      end

      # The data in DER.
      def to_der
        if @value.is_a?(Array)
          ASN1.__send__(:wrap, self, @value, true)
        else
          raise ASN1Error, "indefinite length for primitive value" if @indefinite_length
          ASN1.__send__(:block, @tag, @tag_class, false, @value.to_s.b)
        end
      end
    end

    class Primitive < ASN1Data
      # `tagging`: `:IMPLICIT`, `:EXPLICIT`, or nil for the type's own tag.
      attr_accessor :tagging
      # A value of a type; a tag other than the type's own is `:IMPLICIT` or `:EXPLICIT`.
      def initialize(value, tag = nil, tagging = nil, tag_class = nil)
        ASN1.__send__(:set_up, self, value, tag, tagging, tag_class)
      end
      undef_method :indefinite_length=, :infinite_length=

      # The value in DER.
      def to_der
        content = ASN1.__send__(:content, self)
        ASN1.__send__(:tagged, self, false, content)
      end
    end

    class Constructive < ASN1Data
      include Enumerable
      # `tagging`: `:IMPLICIT`, `:EXPLICIT`, or nil for the type's own tag.
      attr_accessor :tagging
      # Elements of a sequence or a set; a tag other than the type's own is `:IMPLICIT` or `:EXPLICIT`.
      #
      #     OpenSSL::ASN1::Sequence([OpenSSL::ASN1::Integer(5)]).to_der.unpack1("H*")   #=> "3003020105"
      def initialize(value, tag = nil, tagging = nil, tag_class = nil)
        ASN1.__send__(:set_up, self, value, tag, tagging, tag_class)
      end

      # Yields each element.
      def each(&block)
        value.each(&block)
        self
      end

      # The elements in DER.
      def to_der = ASN1.__send__(:wrap, self, @value, false)
    end

    TYPES = {
      Boolean: [Primitive, 1], Integer: [Primitive, 2], BitString: [Primitive, 3], OctetString: [Primitive, 4], Null: [Primitive, 5], ObjectId: [Primitive, 6], Enumerated: [Primitive, 10],
      UTF8String: [Primitive, 12], Sequence: [Constructive, 16], Set: [Constructive, 17], NumericString: [Primitive, 18], PrintableString: [Primitive, 19], T61String: [Primitive, 20],
      VideotexString: [Primitive, 21], IA5String: [Primitive, 22], UTCTime: [Primitive, 23], GeneralizedTime: [Primitive, 24], GraphicString: [Primitive, 25], ISO64String: [Primitive, 26],
      GeneralString: [Primitive, 27], UniversalString: [Primitive, 28], BMPString: [Primitive, 30], EndOfContent: [ASN1Data, 0]
    }.freeze
    private_constant :TYPES
    # By tag.
    UNIVERSAL = TYPES.to_h do |name, (base, tag)|
      type = const_set(name, Class.new(base))
      define_singleton_method(name) { |*args| type.new(*args) } unless name == :EndOfContent || name == :Null
      [tag, type]
    end.freeze
    TAGS = UNIVERSAL.invert.freeze
    private_constant :UNIVERSAL, :TAGS

    class EndOfContent
      # The mark of an end.
      def initialize = super("", 0, :UNIVERSAL)
    end
    # The mark of an end.
    def self.EndOfContent = EndOfContent.new

    class Null
      # NULL; there is no other value than nil.
      def initialize(value = nil, tag = nil, tagging = nil, tag_class = nil) = super
    end
    # NULL.
    def self.Null(*args) = Null.new(*args)

    class BitString
      # `unused_bits`: The bits at the end that do not count, 0 to 7.
      attr_accessor :unused_bits
      # A text of bits.
      def initialize(...)
        super
        @unused_bits = 0
      end
    end

    class ObjectId
      class << self
        # Names are the VM's own: OpenSSL's table is the process's.
        def register(oid, short, long)
          raise ASN1Error, "OBJ_create: oid exists" if registered(short) || registered(long) || Native.oid(oid)&.first
          (@__registered ||= []) << [short, long, oid]
          true
        end
        # The entry of a name that `register` took, or nil.
        def registered(name) = @__registered&.find { |entry| entry.include?(name) }
      end

      private def entry = ObjectId.registered(value) || Native.oid(value)
      # The short name: "CN", or nil.
      def sn = entry&.[](0)
      # The long name: "commonName", or nil.
      def ln = entry&.[](1)
      alias short_name sn
      alias long_name ln
      # The numbers: "2.5.4.3"; ASN1Error for unknown names.
      def oid = entry&.[](2) || raise(ASN1Error, "OBJ_txt2obj: unknown object name")

      # Whether both have the same numbers.
      def ==(other) = other.is_a?(ObjectId) && oid == other.oid
    end

    class << self
      # The object of a text in DER or BER; ASN1Error if it is broken or more follows.
      #
      #     OpenSSL::ASN1.decode("\x02\x01\x05").value.to_i   #=> 5
      def decode(data)
        data = Given.string(data).b
        value, rest = element(data, 0, data.bytesize, 0)
        raise ASN1Error, "Type mismatch. Total bytes read: #{rest} Bytes available: #{data.bytesize}" if rest != data.bytesize
        value
      end

      # An Array of all objects in a text in DER or BER.
      def decode_all(data)
        data = Given.string(data).b
        at, found = 0, []
        while at < data.bytesize
          value, at = element(data, at, data.bytesize, 0)
          found << value
        end
        found
      end

      # Yields depth, offset, header's length, length, whether it is constructed, class, tag.
      def traverse(data, &block)
        raise ArgumentError, "no block given" if false
        data = Given.string(data).b
        visit(data, 0, data.bytesize, 0, &block)
        nil
      end

      private

      # [tag, class, constructed, header's length, length or nil]
      def header(data, at, limit)
        first = at < limit ? data.getbyte(at) : raise(ASN1Error, "Error parsing ASN.1: too short")
        here = at + 1
        tag = first & 0x1f
        if tag == 0x1f
          tag = 0
          while true
            byte = here < limit ? data.getbyte(here) : raise(ASN1Error, "header too long")
            here += 1
            tag = tag << 7 | byte & 0x7f
            raise ASN1Error, "header too long" if tag > 0x7fff_ffff
            break if byte < 0x80
          end
        end
        byte = here < limit ? data.getbyte(here) : raise(ASN1Error, "header too long")
        here += 1
        if byte == 0x80
          raise ASN1Error, "indefinite length for primitive value" if first & 0x20 == 0
          length = nil
        elsif byte > 0x80
          n = byte & 0x7f
          raise ASN1Error, "header too long" if n > 8 || here + n > limit
          length = data.byteslice(here, n).unpack1("H*").to_i(16)
          here += n
        else
          length = byte
        end
        raise ASN1Error, "value is too short" if length && here + length > limit
        [tag, CLASSES[first >> 6], first & 0x20 != 0, here - at, length]
      end

      def visit(data, at, limit, depth, &block)
        raise ASN1Error, "nesting depth limit exceeded" if depth > DEPTH
        at = visit_one(data, at, limit, depth, &block) while at < limit
        at
      end

      def visit_open(data, at, limit, depth, &block)
        raise ASN1Error, "nesting depth limit exceeded" if depth > DEPTH
        while true
          ended = data.byteslice(at, 2) == "\0\0".b
          at = visit_one(data, at, limit, depth, &block)
          return at if ended
        end
      end

      def visit_one(data, at, limit, depth, &block)
        tag, tag_class, constructed, head, length = header(data, at, limit)
        yield [depth, at, head, length || 0, constructed, tag_class, tag]
        at += head
        return visit_open(data, at, limit, depth + 1, &block) unless length
        constructed ? visit(data, at, at + length, depth + 1, &block) : at + length
      end

      # [object, where the next one begins]
      def element(data, at, limit, depth)
        raise ASN1Error, "nesting depth limit exceeded" if depth > DEPTH
        tag, tag_class, constructed, head, length = header(data, at, limit)
        at += head
        unless constructed
          content = data.byteslice(at, length)
          return [primitive(content, tag, tag_class), at + length]
        end
        parts = []
        if length
          stop = at + length
          while at < stop
            part, at = element(data, at, stop, depth + 1)
            parts << part
          end
        else
          while true
            part, at = element(data, at, limit, depth + 1)
            break if part.is_a?(EndOfContent)
            parts << part
          end
        end
        type = tag_class == :UNIVERSAL && (tag == 16 || tag == 17) ? UNIVERSAL[tag] : nil
        object =
          if type then type.new(parts)
          elsif tag_class == :UNIVERSAL then Constructive.new(parts, tag, nil, :UNIVERSAL)
          else ASN1Data.new(parts, tag, tag_class)
          end
        object.indefinite_length = length.nil?
        [object, at]
      end

      def primitive(content, tag, tag_class)
        return ASN1Data.new(content, tag, tag_class) if tag_class != :UNIVERSAL
        if tag == 0
          raise ASN1Error, "invalid length for EOC" unless content.empty?
          return EndOfContent.new
        end
        type = UNIVERSAL[tag]
        return ASN1Data.new(content, tag, tag_class) if !type || type < Constructive 
        if tag == 3
          unused = content.getbyte(0)
          raise ASN1Error, "invalid bit string bits left" if !unused || unused > 7
          bits = content.byteslice(1..)
          bits.setbyte(-1, bits.getbyte(-1) >> unused << unused) if unused > 0 && !bits.empty?
          return BitString.new(bits).tap { |s| s.unused_bits = unused }
        end
        type.new(value_of(content, tag))
      end

      def value_of(content, tag)
        case tag
        when 1
          raise ASN1Error, "invalid length for BOOLEAN" if content.bytesize != 1
          content != "\0".b
        when 2, 10 then BN.new(integer(content))
        when 5
          raise ASN1Error, "null is wrong length" unless content.empty?
          nil
        when 6 then name_of(object_id_of(content))
        when 23, 24 then time(content, tag)
        else content
        end
      end

      def integer(content)
        raise ASN1Error, "d2i_ASN1_INTEGER: illegal zero content" if content.empty?
        n = content.unpack1("H*").to_i(16)
        content.getbyte(0) >= 0x80 ? n - (1 << content.bytesize * 8) : n
      end

      def object_id_of(content)
        raise ASN1Error, "invalid object encoding" if content.empty? || content.getbyte(-1) >= 0x80
        numbers, n = [], 0
        content.each_byte do |byte|
          n = n << 7 | byte & 0x7f
          next if byte >= 0x80
          numbers << n
          n = 0
        end
        first = [numbers[0] / 40, 2].min
        [first, numbers[0] - first * 40, *numbers[1..]].join(".")
      end

      # The short name, if it has one.
      def name_of(dotted) = ObjectId.registered(dotted)&.first || Native.oid(dotted)&.first || dotted

      def time(content, tag)
        pattern = tag == 23 ? /\A(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})\z/ : /\A(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:\.\d+)?(Z|[+-]\d{4})\z/
        year, month, day, hour, minute, second, zone = pattern.match(content)&.captures
        raise ASN1Error, "bad #{tag == 23 ? "UTCTIME" : "GENERALIZEDTIME"} format: \"#{content}\"" unless year
        year = year.to_i
        year += year < 50 ? 2000 : 1900 if tag == 23
        result = Time.utc(year, month.to_i, day.to_i, hour.to_i, minute.to_i, second.to_i)
        if zone && zone != "Z"
          offset = zone[1, 2].to_i * 3600 + zone[3, 2].to_i * 60
          result = zone.start_with?("-") ? result + offset : result - offset
        end
        result
      rescue ArgumentError => e
        raise ASN1Error, "invalid time: #{e.message}"
      end

      def set_up(object, value, tag, tagging, tag_class)
        own = universal_tag(object)
        if !own && tag.nil? then raise ASN1Error, "must specify tag number" end
        if tag.nil?
          raise ASN1Error, "invalid tag class" unless tag_class.nil? || tag_class.is_a?(Symbol)
          tag, tagging, tag_class = own, nil, tag_class || :UNIVERSAL
        else
          raise ASN1Error, "invalid tagging method" unless tagging.nil? || tagging.is_a?(Symbol)
          tag_class ||= tagging ? :CONTEXT_SPECIFIC : :UNIVERSAL
          raise ASN1Error, "invalid tag class" unless tag_class.is_a?(Symbol)
          raise ASN1Error, "tag number for Universal too large" if tag_class == :UNIVERSAL && tag > 31
        end
        object.instance_variable_set(:@value, value)
        object.instance_variable_set(:@tag, tag)
        object.instance_variable_set(:@tagging, tagging)
        object.instance_variable_set(:@tag_class, tag_class)
        object.instance_variable_set(:@indefinite_length, false)
      end

      def universal_tag(object)
        type = object.class
        type = type.superclass until (tag = TAGS[type]) || type == Object
        tag
      end

      def block(tag, tag_class, constructed, content) = head(tag, tag_class, constructed, content.bytesize) + content

      def head(tag, tag_class, constructed, length)
        first = (CLASSES.index(tag_class) || raise(ASN1Error, "invalid tag class")) << 6 | (constructed ? 0x20 : 0)
        number =
          if tag < 0x1f then [first | tag].pack("C")
          else
            [first | 0x1f].pack("C") + [tag].pack("w")
          end
        size =
          if !length then "\x80".b
          elsif length < 0x80 then [length].pack("C")
          else
            hex = length.to_s(16)
            bytes = [hex.size.odd? ? "0#{hex}" : hex].pack("H*")
            [0x80 | bytes.bytesize].pack("C") + bytes
          end
        number + size
      end

      def tagged(object, constructed, content)
        own = universal_tag(object) || object.tag
        case object.tagging
        when :EXPLICIT
          inner = block(own, :UNIVERSAL, constructed, content)
          block(object.tag, object.tag_class, true, inner)
        else block(object.tag, object.tag_class, constructed, content)
        end
      end

      # Elements of a constructed one.
      def wrap(object, value, data)
        parts = value.is_a?(Array) ? value : value.respond_to?(:to_a) ? value.to_a : nil
        raise TypeError, "no implicit conversion of #{value.class} into Array" unless parts
        open = object.indefinite_length
        # DER sorts the elements of a set no further than the program did.
        if open && parts[...-1].any?(EndOfContent)
          raise ASN1Error, "illegal EOC octets in value"
        end
        content = parts.map { |part| part.respond_to?(:to_der) ? part.to_der : part.to_str }.join.b
        content << "\0\0".b if open && !parts.last.is_a?(EndOfContent)
        finish = ->(tag, tag_class) { head(tag, tag_class, true, open ? nil : content.bytesize) + content }
        return finish.(object.tag, object.tag_class) if data || object.tagging != :EXPLICIT
        own = universal_tag(object) || raise(ASN1Error, "explicit tagging of unknown tag")
        inner = finish.(own, :UNIVERSAL)
        open ? head(object.tag, object.tag_class, true, nil) + inner + "\0\0".b : block(object.tag, object.tag_class, true, inner)
      end

      def content(object)
        value = object.value
        case universal_tag(object)
        when 1 then value ? "\xff".b : "\0".b
        when 2, 10
          raise TypeError, "Can't convert nil into Integer" if value.nil?
          two_complement(value.is_a?(BN) ? value.to_i : Kernel.Integer(value))
        when 3 then bits(Given.string(value).b, object.unused_bits)
        when 5 then "".b
        when 6 then object_id_bytes(value)
        when 23 then utc(value, "%y%m%d%H%M%SZ")
        when 24 then utc(value, "%Y%m%d%H%M%SZ")
        when 0 then "".b
        else Given.string(value).b
        end
      end

      # Bits that do not count are zero in DER, and a text without bytes has none of them.
      def bits(text, unused)
        raise ASN1Error, "unused_bits for a bitstring value must be in the range 0 to 7" unless (0..7).cover?(unused)
        return "\0".b if text.empty?
        text.setbyte(-1, text.getbyte(-1) >> unused << unused)
        [unused].pack("C") + text
      end

      def utc(value, format)
        raise TypeError, "can't convert #{value.class} into Time" unless value.respond_to?(:to_i) || value.respond_to?(:to_time)
        value = value.to_time if !value.is_a?(Time) && value.respond_to?(:to_time)
        time = Time.at(value.is_a?(Time) ? value : Kernel.Integer(value)).utc
        raise ASN1Error, "ASN1_TIME_adj: error getting time" unless (format.start_with?("%y") ? 1950..2049 : 0..9999).cover?(time.year)
        time.strftime(format).b
      end

      def two_complement(n)
        size = n.bit_length / 8 + 1
        n += 1 << size * 8 if n < 0
        [n.to_s(16).rjust(size * 2, "0")].pack("H*")
      end

      def object_id_bytes(value)
        value = String.try_convert(value) || raise(TypeError, "no implicit conversion of #{value.nil? ? "nil" : value.class} into String")
        dotted = value.match?(/\A\d+(\.\d+)+\z/) ? value : (ObjectId.registered(value) || Native.oid(value))&.[](2)
        raise ASN1Error, "invalid OBJECT ID #{value}: unknown object name" unless dotted
        first, second, *rest = dotted.split(".").map(&:to_i)
        raise ASN1Error, "invalid OBJECT ID #{value}: invalid digit" if first > 2 || first < 2 && second > 39
        [first * 40 + second, *rest].pack("w*")
      end
    end

    Given.functions(self, *TYPES.keys, :decode, :decode_all, :traverse)
  end
end
