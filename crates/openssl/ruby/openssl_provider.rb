# OpenSSL::Provider: where algorithms come from.
module OpenSSL
  # Where algorithms come from. What a VM loads, it has alone: other VMs go on with the default one.
  class Provider
    class ProviderError < OpenSSLError; end

    class << self
      # Loads a provider of OpenSSL's: "legacy" has old ciphers and digests, "null" has nothing. ProviderError for others. Keys, certificates and connections
      # go on with the default provider.
      #
      #     OpenSSL::Provider.load("null").name   #=> "null"
      def load(name)
        name = String.try_convert(name) || raise(TypeError, "no implicit conversion of #{name.nil? ? "nil" : name.class} into String")
        __new(name, Native.provider_load(name))
      end
      # The names of the providers that are at work.
      def provider_names = Native.provider_names

      alias __new new
      private :__new
      # TypeError: providers are loaded.
      def new(*) = raise(TypeError, "allocator undefined for #{self}")
      # TypeError: providers are loaded.
      def allocate = new
    end

    def initialize(name, number) # :nodoc:
      @__name, @__number = name, number
    end

    # The name; ProviderError once it is unloaded.
    def name
      raise ProviderError, "Provider already unloaded." unless Native.provider_loaded?(@__number)
      @__name.dup
    end
    # Ends what `load` began, and answers true; ProviderError if that was done.
    def unload = Native.provider_unload(@__number) || raise(ProviderError, "Provider already unloaded.")
    # The class and the name.
    def inspect = Native.provider_loaded?(@__number) ? "#<#{self.class} name=#{@__name.inspect}>" : "#<#{self.class} unloaded provider>"
    private def initialize_copy(_) = raise(TypeError, "allocator undefined for #{self.class}")
  end
end
