# DidYouMean: suggestions for names that were probably mistyped, in detailed messages.
module DidYouMean
  VERSION = "2.0.0"
  # Stays reachable when the constant is gone.
  HERE = self
  private_constant :HERE
  autoload :Jaro, "did_you_mean/jaro_winkler"
  autoload :JaroWinkler, "did_you_mean/jaro_winkler"
  autoload :Levenshtein, "did_you_mean/levenshtein"
  autoload :TreeSpellChecker, "did_you_mean/tree_spell_checker"

  # Finds similar words in a dictionary.
  class SpellChecker
    # A checker of words.
    def initialize(dictionary:)
      @dictionary = dictionary
    end

    # The words that are similar to `input`, the best first.
    #
    #     DidYouMean::SpellChecker.new(dictionary: %w[apple pear]).correct("aple")   #=> ["apple"]
    def correct(input)
      HERE.send(:__corrections, @dictionary.to_a, input)
    end
  end

  # Writes suggestions below a message.
  class Formatter
    # The text below a message that suggests the words; "" without any.
    def self.message_for(corrections)
      corrections.empty? ? "" : "\nDid you mean?  #{corrections.join("\n               ")}"
    end

    # The text below a message that suggests the words; "" without any.
    def message_for(corrections) = self.class.message_for(corrections)
  end

  # Suggests nothing.
  class NullChecker
    # Takes an exception.
    def initialize(*)
    end

    # An empty Array.
    def corrections = []
  end

  # Unknown methods.
  class MethodNameChecker
    WORDS = %i[alias case def defined? do else elsif end ensure for rescue super undef unless until when while yield].freeze
    private_constant :WORDS
    # `method_name`: The name that was called.
    # `receiver`: The object that has no such method.
    attr_reader :method_name, :receiver

    # Takes a NoMethodError.
    def initialize(exception)
      @method_name = exception.name
      @receiver = exception.receiver
      @private_call = exception.respond_to?(:private_call?) && exception.private_call?
    end

    # Similar names of methods.
    def corrections
      excluded = NilClass === receiver ? nil.methods : []
      # A reserved word is what a call without a receiver may have meant.
      words = @private_call ? WORDS + method_names : method_names
      SpellChecker.new(dictionary: words).correct(method_name).uniq - excluded
    end

    # The names of the receiver's methods.
    def method_names
      return [] unless Object === receiver
      names = receiver.methods + receiver.singleton_methods
      names += receiver.private_methods if @private_call
      names.uniq
    end
  end

  # Unknown variables, or methods called like one.
  class VariableNameChecker
    WORDS = %i[
      BEGIN END alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue
      retry return self super then true undef unless until when while yield __LINE__ __FILE__ __ENCODING__
    ].freeze
    private_constant :WORDS
    # `name`: The name, without `@`.
    # `method_names`: The names of the receiver's methods.
    # `lvar_names`: The names of local variables.
    # `ivar_names`: The names of the receiver's instance variables.
    # `cvar_names`: The names of class variables.
    attr_reader :name, :method_names, :lvar_names, :ivar_names, :cvar_names

    # Takes a NameError.
    def initialize(exception)
      @name = exception.name.to_s.tr("@", "")
      @lvar_names = HERE.send(:__locals, exception)
      receiver = exception.receiver
      @method_names = @ivar_names = @cvar_names = []
      return unless Object === receiver
      @method_names = receiver.methods + receiver.private_methods
      @ivar_names = receiver.instance_variables
      @cvar_names = receiver.class.class_variables
      @cvar_names += receiver.class_variables if Module === receiver
    end

    # Similar names of variables, methods and reserved words.
    def corrections
      words = SpellChecker.new(dictionary: WORDS + lvar_names + method_names + ivar_names + cvar_names).correct(name).uniq
      name == "foo" ? words - %i[fork for] : words
    end
  end

  # Unknown class variables and odd names of instance variables are looked up like variables; constants by the modules around.
  class ClassNameChecker
    # `class_name`: The name that is not known.
    attr_reader :class_name

    # Takes a NameError.
    def initialize(exception)
      @class_name, @receiver, @message = exception.name, exception.receiver, exception.message
    end

    # Similar names of constants.
    def corrections
      found = {}
      scopes.each do |scope|
        prefix = scope.equal?(Object) ? "" : "#{scope.name}::"
        scope.constants.each { |c| (found[c] ||= []) << "#{prefix}#{c}" }
      end
      SpellChecker.new(dictionary: found.keys).correct(class_name).flat_map { |c| found[c].first(1) }.reject { |full| @message.include?(full) }
    end

    private

    def scopes
      out = [Object]
      @receiver.to_s.split("::").inject(Object) do |scope, part|
        break unless scope.const_defined?(part, false)
        inner = scope.const_get(part, false)
        break unless Module === inner
        out.unshift(inner)
        inner
      end
      out.uniq
    end
  end

  # NameError of all sorts.
  module NameErrorCheckers
    # The checker for the kind of name of a NameError.
    def self.new(exception)
      case exception.name
      when nil then NullChecker.new
      when /\A[[:upper:]]/ then Module === exception.receiver ? ClassNameChecker.new(exception) : VariableNameChecker.new(exception)
      else VariableNameChecker.new(exception)
      end
    end
  end

  # Missing keys.
  class KeyErrorChecker
    # Takes a KeyError.
    def initialize(exception)
      @key = exception.key
      @keys = exception.receiver.keys
    end

    # Similar keys, as `inspect` writes them.
    def corrections
      same = @keys.select { |k| @key == k.to_s || k == @key.to_s }
      (same.empty? ? SpellChecker.new(dictionary: @keys).correct(@key) : same).map(&:inspect)
    end
  end

  # Missing keys of patterns.
  class PatternKeyNameChecker < KeyErrorChecker
    # Takes a NoMatchingPatternKeyError.
    def initialize(exception)
      @key = exception.key
      @keys = exception.matchee.keys
    end
  end

  # Files that can't be found.
  class RequirePathChecker
    # Takes a LoadError.
    def initialize(exception)
      @path = exception.path
    end

    # Similar names of files on the load path.
    def corrections
      return [] unless @path
      longest = @path.size * 2
      names = HERE.requireables.reject { |n| n.size >= longest }
      SpellChecker.new(dictionary: names).correct(@path).uniq
    end
  end

  @spell_checkers = {}
  @formatter = Formatter

  class << self
    # `formatter`: What writes suggestions: it has `message_for`.
    attr_accessor :formatter

    # The checkers by the names of exception classes.
    def spell_checkers = @spell_checkers

    # Makes a checker responsible for an exception class.
    def correct_error(error_class, checker)
      name = error_class.is_a?(Module) ? error_class.name : error_class.to_s
      # A new table: the boot image's is frozen.
      @spell_checkers = spell_checkers.merge(name => checker)
      error_class = Object.const_get(name) unless error_class.is_a?(Module)
      error_class.prepend(Correctable) unless error_class < Correctable
    end

    # Names that `require` would find.
    def requireables
      $LOAD_PATH.flat_map { |dir| Dir.glob("**/???*.{rb,so}", base: dir.to_s) }.map { |f| f.delete_suffix(".rb").delete_suffix(".so") }.uniq
    end
  end

  # Adds suggestions to an exception class's detailed messages.
  module Correctable
    # The message with suggestions, unless `did_you_mean: false`.
    def detailed_message(highlight: true, did_you_mean: true, **)
      return super unless did_you_mean && HERE.send(:__enabled?)
      text = super
      begin
        words = corrections
        return text if words.empty?
        suggestion = HERE.formatter.message_for(words)
      rescue StandardError
        return text
      end
      suggestion = suggestion.gsub(/.+/) { "\e[1m#{$&}\e[m" } if highlight
      text.include?(suggestion) ? text : text + suggestion
    end

    # The suggestions of the exception's checker.
    def corrections = spell_checker.corrections.to_a

    # A checker for the exception, by its class.
    def spell_checker
      checker = nil
      self.class.ancestors.each { |c| break if checker = HERE.spell_checkers[c.name] }
      (checker || NullChecker).new(self)
    end
  end

  correct_error NameError, NameErrorCheckers
  correct_error NoMethodError, MethodNameChecker
  correct_error KeyError, KeyErrorChecker
  correct_error LoadError, RequirePathChecker
  correct_error NoMatchingPatternKeyError, PatternKeyNameChecker
end
