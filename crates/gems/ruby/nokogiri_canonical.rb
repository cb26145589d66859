# Canonical XML 1.0 and 1.1, and exclusive canonicalization (W3C recommendations of 2001, 2008 and 2002).
module Nokogiri
  module XML
    # Canonical XML.
    class Canonical
      def initialize(document, exclusive, inclusive, comments, block)
        @document, @exclusive, @inclusive, @comments, @block = document, exclusive, inclusive.map(&:to_s), comments, block
        @out = +""
      end

      def to_s
        after = false
        @document.children.to_a.each do |c|
          after = top(c, after)
        end
        @out
      end

      private

      def takes?(node, parent) = @block.nil? || @block.call(node, parent)

      # Nodes outside of the root stand on lines of their own.
      def top(node, after)
        case node.type
        when 1
          walk(node, {})
          return true
        when 7, 8
          return after if node.type == 8 && !@comments
          return after unless takes?(node, @document)
          @out << "\n" if after
          leaf(node)
          @out << "\n" unless after
        end
        after
      end

      def leaf(node)
        case node.type
        when 3, 4 then @out << text(node.content)
        when 7 then @out << "<?#{node.name}#{" #{node.content}" unless node.content.empty?}?>"
        when 8 then @out << "<!--#{node.content}-->" if @comments
        when 5 then @out << text(node.content)
        end
      end

      def text(s) = s.gsub(/[&<>\r]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\r" => "&#xD;")
      def value(s) = s.gsub(/[&<"\t\n\r]/, "&" => "&amp;", "<" => "&lt;", '"' => "&quot;", "\t" => "&#x9;", "\n" => "&#xA;", "\r" => "&#xD;")

      # Elements by a stack of their own: depth is the document's to choose.
      def walk(root, rendered)
        stack = [[:open, root, rendered]]
        until stack.empty?
          what, node, seen = stack.pop
          if what == :close
            @out << "</#{node}>"
          elsif node.type != 1
            leaf(node) if takes?(node, node.parent)
          else
            if takes?(node, node.parent)
              name = qualified(node)
              seen = start(node, name, seen)
              stack << [:close, name, nil]
            end
            node.children.to_a.reverse_each { |c| stack << [:open, c, seen] }
          end
        end
      end

      def qualified(node)
        prefix = node.namespace&.prefix
        prefix ? "#{prefix}:#{node.name}" : node.name
      end

      def start(node, name, seen)
        attributes = node.attribute_nodes.select { |a| takes?(a, node) }
        scope = node.namespace_scopes.to_h { |n| [n.prefix || "", n.href] }
        wanted =
          if @exclusive
            used = [node.namespace&.prefix || ""] + attributes.filter_map { |a| a.namespace&.prefix } + @inclusive.map { |p| p == "#default" ? "" : p }
            used.uniq.to_h { |p| [p, scope[p] || (p.empty? ? "" : nil)] }.compact
          else
            { "" => "" }.merge(scope)
          end
        wanted.delete("xml")
        fresh = wanted.reject { |p, h| (seen[p] || "") == h }
        @out << "<" << name
        fresh.sort.each { |p, h| @out << " xmlns#{":#{p}" unless p.empty?}=\"#{value(h)}\"" }
        unless @exclusive || @block.nil? || (node.parent && node.parent.type == 1 && takes?(node.parent, node.parent.parent))
          # What stands on elements that were left out, of xml: alone.
          present = attributes.map { |a| [a.namespace&.href, a.name] }
          node.ancestors.each do |above|
            next unless above.type == 1
            above.attribute_nodes.each do |a|
              key = [a.namespace&.href, a.name]
              next unless a.namespace&.prefix == "xml" && !present.include?(key)
              present << key
              attributes << a
            end
          end
        end
        attributes.sort_by { |a| [a.namespace&.href || "", a.name] }.each { |a| @out << " #{qualified(a)}=\"#{value(a.content)}\"" }
        @out << ">"
        seen.merge(fresh)
      end
    end
    private_constant :Canonical
  end
end
