class Custom < StandardError; end
raise Custom
