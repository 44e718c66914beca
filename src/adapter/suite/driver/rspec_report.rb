# A formatter for RSpec that writes one JSON line per example to the file in REGREEN_CASES. REGREEN_SELECT
# may name a file with one example per line: only those run. Examples of the same name are numbered.
# Runs in the project's Ruby, 2.3 or later.
require 'json'
require 'set'
require 'rspec/core'

module Regreen
  MESSAGE_LIMIT = 4096
  STACK_LIMIT = 16_384

  module Examples
    class << self
      # Names by the identity that RSpec gives an example, in the order of definition.
      def names
        @names ||= begin
          counts = Hash.new(0)
          RSpec.world.all_examples.each_with_object({}) do |example, names|
            parts = parts_of(example.metadata)
            count = counts[[example.metadata[:rerun_file_path], parts]] += 1
            parts[-1] += " (#{count})" if count > 1
            names[example.id] = parts
          end
        end
      end

      def parts_of(metadata)
        # Without a description RSpec only knows one after the run.
        own = metadata[:description_args].empty? ? "line #{metadata[:line_number]}" : metadata[:description]
        parts = [own]
        group = metadata[:example_group]
        while group
          parts.unshift(group[:description])
          group = group[:parent_example_group]
        end
        parts
      end

      def of(example)
        names.fetch(example.id) { parts_of(example.metadata) }.map { |part| Regreen.text(part) }
      end

      def file(example)
        File.expand_path(example.metadata[:rerun_file_path])
      end

      def id(example)
        root = "#{File.realpath(ENV.fetch('REGREEN_ROOT', '.'))}/"
        "#{file(example).sub(root, '')}::#{of(example).join(' > ')}"
      end

      def chosen
        @chosen ||= begin
          ids = File.read(ENV.fetch('REGREEN_SELECT'), encoding: 'UTF-8').split("\n").to_set
          # What failed outside of the examples of a file is seen by running all of them, and a hook of
          # the whole suite by running any.
          others = ids - RSpec.world.all_examples.map { |example| id(example) }
          { ids: ids, files: others.map { |one| one.split('::').first }.to_set,
            whole: others.any? { |one| one.end_with?('(:suite) hook') } }
        end
      end

      def chosen?(example)
        id = id(example)
        chosen[:whole] || chosen[:ids].include?(id) || chosen[:files].include?(id.split('::').first)
      end
    end
  end

  def self.text(value, limit = MESSAGE_LIMIT)
    value.to_s.encode('UTF-8', invalid: :replace, undef: :replace).scrub('?')[0, limit]
  end

  # Chooses examples besides what the project itself filters.
  module Selection
    def prune(examples)
      super.select { |example| Examples.chosen?(example) }
    end
  end
  RSpec::Core::FilterManager.prepend(Selection) if ENV['REGREEN_SELECT']

  # Remembers the group whose hooks run behind its examples: RSpec does not name it.
  module Groups
    class << self
      attr_accessor :current
    end

    def run_after_context_hooks(*arguments)
      Groups.current = self
      super
    ensure
      Groups.current = nil
    end
  end
  RSpec::Core::ExampleGroup.singleton_class.prepend(Groups)
  RSpec.configuration.backtrace_exclusion_patterns << /rspec_report\.rb/

  # Writes the lines.
  class RspecReport
    RSpec::Core::Formatters.register self, :start, :example_passed, :example_failed, :example_pending, :message, :close

    def initialize(_output)
      @out = File.open(ENV.fetch('REGREEN_CASES'), 'a')
      @expected = @written = 0
    end

    def start(notification)
      @expected = notification.count
    end

    def example_passed(notification)
      write(notification.example, 'passed')
    end

    def example_pending(notification)
      write(notification.example, 'skipped')
    end

    def example_failed(notification)
      error = notification.example.execution_result.exception
      stack = [error.message, *notification.formatted_backtrace].join("\n")
      write(notification.example, 'failed', class: error.class.to_s, message: Regreen.text(error.message.strip),
                                            stack: Regreen.text(stack, STACK_LIMIT))
    end

    # A file that does not load, or a hook of the whole suite that fails, is only a message.
    def message(notification)
      text = Regreen.text(notification.message, STACK_LIMIT).gsub(/\e\[[0-9;]*m/, '').strip
      head = text.lines.first.to_s.strip
      return unless head.start_with?('An error occurred')

      file = head[/while loading (.+?\.rb)\./, 1]
      lines = text.lines.drop(1).map(&:strip).reject(&:empty?)
      at = lines.index { |line| line =~ /\A[A-Z]\w*(::[A-Z]\w*)*:\z/ }
      record = { status: 'failed', ms: 0, class: at ? lines[at].chomp(':') : 'Error', stack: text,
                 message: (at ? lines.drop(at + 1).take_while { |line| !line.start_with?('#') }.join("\n") : head) }
      put(record.merge(file ? { names: [], file: File.expand_path(file) } : hook(head)))
    end

    # A product that ends the process ends RSpec too, which closes its formatters all the same.
    def close(_notification)
      put(end: true) if @written >= @expected || RSpec.world.wants_to_quit
      @out.close
    end

    private

    def hook(head)
      name = head[/`([^`]+)` hook/, 1]
      return { id: head.chomp('.') } unless name

      group = Groups.current
      return { kind: 'hook', names: ["#{name} hook"] } unless group

      parts = group.parent_groups.reverse.map { |one| Regreen.text(one.metadata[:description]) }
      { kind: 'hook', names: [*parts, "#{name} hook"], file: File.expand_path(group.metadata[:rerun_file_path]) }
    end

    def write(example, status, failure = {})
      @written += 1
      metadata = example.metadata
      file = Examples.file(example)
      line = metadata[:line_number] if metadata[:absolute_file_path] == file
      put({ names: Examples.of(example), status: status, file: file, line: line,
            ms: ((example.execution_result.run_time || 0) * 1000).round }.merge(failure))
    end

    def put(record)
      @out.write("#{JSON.generate(record)}\n")
      @out.flush
    end
  end
end
