# pp: the installed Ruby's file, and what Ruby 3.4 and later print otherwise: the keys of Hashes.
pp_file = $LOAD_PATH.map { |dir| File.join(dir.to_s, "pp.rb") }.find { |f| File.file?(f) }
raise LoadError.new("cannot load such file -- pp").tap { |e| e.instance_variable_set(:@path, "pp") } unless pp_file

require pp_file

unless PP::PPMethods.method_defined?(:pp_hash_pair)
  module PP::PPMethods
    def pp_hash(obj)
      group(1, "{", "}") do
        seplist(obj, nil, :each_pair) { |key, value| group { pp_hash_pair(key, value) } }
      end
    end

    def pp_hash_pair(key, value)
      if Symbol === key
        # As `inspect` writes it: `a:` or `"a b":`.
        text({ key => nil }.inspect.delete_prefix("{").delete_suffix(" nil}"))
      else
        pp key
        text " =>"
      end
      group(1) do
        breakable
        pp value
      end
    end
  end
end
