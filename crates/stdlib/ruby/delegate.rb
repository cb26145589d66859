# delegate: objects that pass on what they don't know themselves. The library's own file, before 3.2, takes methods away that 4.0 no longer has.

class Delegator < BasicObject
  kernel = ::Kernel.dup
  kernel.class_eval do
    alias_method :__raise__, :raise
    %i[to_s inspect !~ === <=> hash].each { |name| undef_method name if method_defined?(name) }
    private_instance_methods.each do |name|
      undef_method name unless name.match?(/\A(?:__raise__|__callee__|__dir__|__method__|block_given\?|iterator\?|bind_call|initialize_.*)\z|\Ainstance_variable_/)
    end
  end
  include kernel

  def self.const_missing(name) = ::Object.const_get(name)

  def initialize(object)
    __setobj__(object)
  end

  def __getobj__ = __raise__(::NotImplementedError, "need to define '__getobj__'")
  def __setobj__(_object) = __raise__(::NotImplementedError, "need to define '__setobj__'")

  ruby2_keywords def method_missing(name, *args, &block)
    known = true
    target = __getobj__ { known = false }
    if known && __passes_on?(target, name, false)
      target.__send__(name, *args, &block)
    elsif ::Kernel.method_defined?(name) || ::Kernel.private_method_defined?(name)
      ::Kernel.instance_method(name).bind_call(self, *args, &block)
    else
      super(name, *args, &block)
    end
  end

  def respond_to_missing?(name, include_private)
    known = true
    target = __getobj__ { known = false }
    return false unless known
    return true if __passes_on?(target, name, false)
    if include_private && __passes_on?(target, name, true)
      ::Kernel.warn "delegator does not forward private method \##{name}", uplevel: 3
    end
    false
  end

  # Targets that are BasicObjects don't answer `respond_to?`.
  def __passes_on?(target, name, include_private)
    case target
    when ::Object then target.respond_to?(name, include_private)
    else
      ::Kernel.instance_method(:respond_to?).bind_call(target, name, include_private)
    end
  end
  private :__passes_on?

  def methods(all = true) = __getobj__.methods(all) | super
  def public_methods(all = true) = __getobj__.public_methods(all) | super
  def protected_methods(all = true) = __getobj__.protected_methods(all) | super

  def ==(other) = other.equal?(self) || __getobj__ == other
  def !=(other) = !other.equal?(self) && __getobj__ != other
  def ! = !__getobj__

  def eql?(other)
    return true if other.equal?(self)
    other = other.__getobj__ if ::Delegator === other
    other.equal?(__getobj__) || __getobj__.eql?(other)
  end

  def marshal_dump
    names = instance_variables.reject { |name| name.start_with?("@delegate_") }
    [:__v2__, names, names.map { |name| instance_variable_get(name) }, __getobj__]
  end

  def marshal_load(data)
    version, names, values, object = data
    if version == :__v2__
      names.each_with_index { |name, i| instance_variable_set(name, values[i]) }
      __setobj__(object)
    else
      __setobj__(data)
    end
  end

  def initialize_clone(object, freeze: nil)
    __setobj__(object.__getobj__.clone(freeze: freeze))
  end

  def initialize_dup(object)
    __setobj__(object.__getobj__.dup)
  end
  private :initialize_clone, :initialize_dup

  def freeze
    __getobj__.freeze
    super()
  end

  @delegator_api = public_instance_methods

  def self.public_api = @delegator_api

  # Body of a method of DelegateClass.
  def self.delegating_block(name)
    lambda do |*args, **options, &block|
      target = __getobj__
      options.empty? ? target.__send__(name, *args, &block) : target.__send__(name, *args, **options, &block)
    end
  end
end

class SimpleDelegator < Delegator
  def __getobj__
    unless defined?(@delegate_sd_obj)
      return yield if block_given?
      __raise__ ::ArgumentError, "not delegated"
    end
    @delegate_sd_obj
  end

  def __setobj__(object)
    __raise__ ::ArgumentError, "cannot delegate to self" if equal?(object)
    @delegate_sd_obj = object
  end
end

# A class whose objects pass the methods of another class on.
def DelegateClass(superclass, &block)
  own = Delegator.public_api
  public_names = superclass.public_instance_methods - own
  protected_names = superclass.protected_instance_methods - own
  klass = Class.new(Delegator) do
    def __getobj__
      unless defined?(@delegate_dc_obj)
        return yield if block_given?
        __raise__ ::ArgumentError, "not delegated"
      end
      @delegate_dc_obj
    end

    def __setobj__(object)
      __raise__ ::ArgumentError, "cannot delegate to self" if equal?(object)
      @delegate_dc_obj = object
    end

    public_names.each { |name| define_method(name, Delegator.delegating_block(name)) }
    protected_names.each do |name|
      define_method(name, Delegator.delegating_block(name))
      protected name
    end
  end
  klass.define_singleton_method(:public_instance_methods) { |all = true| super(all) | superclass.public_instance_methods }
  klass.define_singleton_method(:protected_instance_methods) { |all = true| super(all) | superclass.protected_instance_methods }
  klass.define_singleton_method(:instance_methods) { |all = true| super(all) | superclass.instance_methods }
  klass.module_eval(&block) if block
  klass
end
