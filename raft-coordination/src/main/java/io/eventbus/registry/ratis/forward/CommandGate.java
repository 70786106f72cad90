package io.eventbus.registry.ratis.forward;

import io.eventbus.raft.CommandBatcher;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.state.TimedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/** Entry of commands into the log at the leader. Any thread may call any method. */
public final class CommandGate {
  private record Command(CommandId id, RegistryCommand command) {}

  private final CommandBatcher<Command, CommandResult> gate;
  private final CommitLatencies latencies = new CommitLatencies();

  /**
   * Creates a gate.
   *
   * @param nanoTime the time of that timer
   */
  public CommandGate(
      CommandBatcher.Proposer<TimedCommand, CommandResult> proposer,
      LongSupplier stamp,
      GateLimits limits,
      CommandBatcher.Timer timer,
      LongSupplier nanoTime) {
    this.gate =
        new CommandBatcher<>(
            commands -> proposer.propose(timed(commands, stamp.getAsLong())),
            new CommandBatcher.Owner() {
              @Override
              public RuntimeException overloaded(String message) {
                return new RegistryOverloadedException(message);
              }

              @Override
              public void committed(long tookNanos) {
                latencies.record(tookNanos);
              }
            },
            limits,
            timer,
            nanoTime);
  }

  private static List<TimedCommand> timed(List<Command> commands, long timeMillis) {
    List<TimedCommand> timed = new ArrayList<>(commands.size());
    for (Command command : commands) {
      timed.add(new TimedCommand(command.id(), timeMillis, command.command()));
    }
    return timed;
  }

  /**
   * Submits as {@link CommandBatcher#submit}; too many are a {@link RegistryOverloadedException}.
   */
  public CompletableFuture<CommandResult> submit(CommandId id, RegistryCommand command) {
    return gate.submit(new Command(id, command), command.estimatedBytes());
  }

  /** Confirms as {@link CommandBatcher#confirm}. */
  public CompletableFuture<Void> confirm() {
    return gate.confirm();
  }

  /** Returns the latency of commits. */
  public CommitLatency latency() {
    return latencies.summary();
  }
}
