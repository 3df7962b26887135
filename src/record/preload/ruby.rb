# Required through RUBYOPT by every Ruby that a recording starts; acts only where
# YJIT is on and can tell its blocks (Ruby 3.1). Writes a perf map as the process
# ends: YJIT 3.1 neither moves nor frees code, so what is true then was true before.
#   START SIZE [YJIT] label@path:line
# Must never disturb the program: whatever fails, fails quietly.
if defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:blocks_for) && RubyVM::YJIT.enabled?
  module PolyperfYjitMap
    SCRIPTS = []
    DIRECTORY = __dir__

    # Top-level code and all that is written inside it. Evaluated strings are left
    # to the walk over methods, so that their code can be collected as garbage.
    SCRIPT_HOOK = TracePoint.new(:script_compiled) do |event|
      SCRIPTS << event.instruction_sequence unless event.eval_script
    end
    SCRIPT_HOOK.enable

    def self.each_method_code
      ObjectSpace.each_object(Module) do |mod|
        names = Module.instance_method(:instance_methods).bind_call(mod, false) +
                Module.instance_method(:private_instance_methods).bind_call(mod, false)
        names.each do |name|
          code = RubyVM::InstructionSequence.of(Module.instance_method(:instance_method).bind_call(mod, name))
          yield code if code
        rescue StandardError
          next
        end
      end
      ObjectSpace.each_object(Proc) do |block|
        code = RubyVM::InstructionSequence.of(block)
        yield code if code
      end
    end

    def self.put(out, code, seen)
      pending = [code]
      while (code = pending.pop)
        next if seen[code]

        seen[code] = true
        RubyVM::YJIT.blocks_for(code).each do |block|
          size = block.code.bytesize
          next if size.zero?

          out.printf("%x %x [YJIT] %s@%s:%d\n", block.address, size,
                     code.label, code.path, code.first_lineno)
        end
        code.each_child { |child| pending << child }
      end
    end

    def self.write
      SCRIPT_HOOK.disable
      File.open("#{DIRECTORY}/perf-#{Process.pid}.map", "w") do |out|
        seen = {}.compare_by_identity
        SCRIPTS.each { |code| put(out, code, seen) }
        each_method_code { |code| put(out, code, seen) }
      end
    rescue StandardError, NotImplementedError
      nil
    end
  end
  # The first handler to be set is the last to run: code that others run at exit counts, too.
  at_exit { PolyperfYjitMap.write }
end
