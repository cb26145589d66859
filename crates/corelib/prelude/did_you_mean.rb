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
    def initialize(dictionary:)
      @dictionary = dictionary
    end

    def correct(input)
      HERE.send(:__corrections, @dictionary.to_a, input)
    end
  end

  # Writes suggestions below a message.
  class Formatter
    def self.message_for(corrections)
      corrections.empty? ? "" : "\nDid you mean?  #{corrections.join("\n               ")}"
    end

    def message_for(corrections) = self.class.message_for(corrections)
  end

  # Suggests nothing.
  class NullChecker
    def initialize(*)
    end

    def corrections = []
  end

  # Unknown methods.
  class MethodNameChecker
    WORDS = %i[alias case def defined? do else elsif end ensure for rescue super undef unless until when while yield].freeze
    private_constant :WORDS
    attr_reader :method_name, :receiver

    def initialize(exception)
      @method_name = exception.name
      @receiver = exception.receiver
      @private_call = exception.respond_to?(:private_call?) && exception.private_call?
    end

    def corrections
      excluded = NilClass === receiver ? nil.methods : []
      # A reserved word is what a call without a receiver may have meant.
      words = @private_call ? WORDS + method_names : method_names
      SpellChecker.new(dictionary: words).correct(method_name).uniq - excluded
    end

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
    attr_reader :name, :method_names, :lvar_names, :ivar_names, :cvar_names

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

    def corrections
      words = SpellChecker.new(dictionary: WORDS + lvar_names + method_names + ivar_names + cvar_names).correct(name).uniq
      name == "foo" ? words - %i[fork for] : words
    end
  end

  # Unknown class variables and odd names of instance variables are looked up like variables; constants by the modules around.
  class ClassNameChecker
    attr_reader :class_name

    def initialize(exception)
      @class_name, @receiver, @message = exception.name, exception.receiver, exception.message
    end

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
    def initialize(exception)
      @key = exception.key
      @keys = exception.receiver.keys
    end

    def corrections
      same = @keys.select { |k| @key == k.to_s || k == @key.to_s }
      (same.empty? ? SpellChecker.new(dictionary: @keys).correct(@key) : same).map(&:inspect)
    end
  end

  # Missing keys of patterns.
  class PatternKeyNameChecker < KeyErrorChecker
    def initialize(exception)
      @key = exception.key
      @keys = exception.matchee.keys
    end
  end

  # Files that can't be found.
  class RequirePathChecker
    def initialize(exception)
      @path = exception.path
    end

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
    attr_accessor :formatter

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

    def corrections = spell_checker.corrections.to_a

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
