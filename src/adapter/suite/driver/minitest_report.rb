# Adds a reporter to Minitest that writes one JSON line per test to the file in REGREEN_CASES. REGREEN_SELECT
# may name a file with one test per line: only those run. Every Ruby of the test command loads this file
# first, whether or not it runs tests. Runs in the project's Ruby, 2.3 or later.
require 'json'

module Regreen
  MESSAGE_LIMIT = 4096
  STACK_LIMIT = 16_384

  def self.text(value, limit = MESSAGE_LIMIT)
    value.to_s.encode('UTF-8', invalid: :replace, undef: :replace).scrub('?')[0, limit]
  end

  def self.put(record)
    File.open(ENV.fetch('REGREEN_CASES'), 'a') { |out| out.write("#{JSON.generate(record)}\n") }
  end

  def self.root
    "#{File.realpath(ENV.fetch('REGREEN_ROOT', '.'))}/"
  end

  # Class and method of the chosen tests, as Minitest matches them.
  def self.filter
    ids = File.read(ENV.fetch('REGREEN_SELECT'), encoding: 'UTF-8').split("\n")
    names = ids.map { |id| id.split('.rb::', 2) }.select { |pair| pair.length == 2 }
    # What failed while its file was loaded is seen by running everything.
    return nil if names.length < ids.length

    "/\\A(?:#{names.map { |_, name| Regexp.escape(name) }.join('|')})\\z/"
  end

  # Receives the results of Minitest.
  class MinitestReport
    def start; end

    def prerecord(_class, _name); end

    def record(result)
      owner = result.respond_to?(:klass) ? result.klass : result.class.name
      file, line = result.respond_to?(:source_location) ? result.source_location : nil
      file = file && file != 'unknown' ? File.expand_path(file) : nil
      id = [file, "#{owner}##{result.name}"].compact.join('::')
      record = { id: Regreen.text(id), file: file, line: line, ms: (result.time * 1000).round }
      Regreen.put(record.merge(outcome(result)))
    end

    def passed?
      true
    end

    def report
      Regreen.put(end: true)
    end

    private

    def outcome(result)
      return { status: 'skipped' } if result.skipped?

      failure = result.failures.first
      return { status: 'passed' } unless failure

      error = failure.respond_to?(:error) ? failure.error : failure
      lines = Minitest.filter_backtrace(error.backtrace || [])
      stack = [error.message, *lines].join("\n")
      { status: 'failed', class: error.class.to_s, message: Regreen.text(error.message),
        stack: Regreen.text(stack, STACK_LIMIT) }
    end
  end

  # Minitest may be loaded later; what is prepended stays in front of its own methods.
  module Hook
    def init_plugins(options)
      filter = Regreen.filter if ENV['REGREEN_SELECT']
      options[:filter] = options[:include] = filter if filter
      super
      reporter << MinitestReport.new
    end
  end

  # A test file that does not load ends its process, and Minitest runs nothing.
  def self.report_crash(error)
    return if error.nil? || error.is_a?(SystemExit) || error.is_a?(SignalException)

    trace = error.backtrace || []
    files = trace.map { |line| File.expand_path(line.split(':').first.to_s) }.select { |file| file.start_with?(root) }
    test = files.reverse.find { |file| File.basename(file) =~ /\Atest_|_test\.rb\z/ }
    return unless test

    put(names: [], file: test, status: 'failed', ms: 0, class: error.class.to_s, message: text(error.message),
        stack: text([error.message, *trace].join("\n"), STACK_LIMIT))
    put(end: true)
  end
end

module Minitest
  singleton_class.prepend(Regreen::Hook)
end

at_exit { Regreen.report_crash($!) }
