package io.eventbus.registry.ratis.forward;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.state.TimedCommand;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwarding of commands and reads to the leader: accepts them from other buses at the leader, and
 * sends them from another bus.
 */
public final class CommandService {
  /** Code in place of a result: this bus does not lead; nothing was done. */
  public static final String NOT_LEADER = "NOT_LEADER";

  static final String OVERLOADED = "OVERLOADED";

  /** Code in place of a result: the command may have been applied. */
  public static final String UNCERTAIN = "UNCERTAIN";

  /** Code in place of a result: a live bus has that id. */
  public static final String IN_USE = "IN_USE";

  private final LinkNode links;
  private final PeerBook peers;
  private final RatisGroup group;
  private final CommandGate gate;
  private final Supplier<RegistrySnapshot> snapshot;
  private final LongSupplier applied;
  private final String self;
  private final Executor callers;

  /** Creates a service that is not offered yet. */
  public CommandService(
      LinkNode links,
      PeerBook peers,
      RatisGroup group,
      CommandGate gate,
      Supplier<RegistrySnapshot> snapshot,
      LongSupplier applied,
      String self,
      Executor callers) {
    this.links = links;
    this.peers = peers;
    this.group = group;
    this.gate = gate;
    this.snapshot = snapshot;
    this.applied = applied;
    this.self = self;
    this.callers = callers;
  }

  /** Offers it to other buses. */
  public void open() {
    links.offer(Services.COMMAND, this::onCommand);
    links.offer(Services.READ, this::onRead);
  }

  /** Withdraws it. */
  public void close() {
    links.withdraw(Services.COMMAND);
    links.withdraw(Services.READ);
  }

  /** Makes one attempt to get a command applied. */
  public CompletableFuture<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration left) {
    String leader = group.leader();
    if (self.equals(leader)) {
      // The code of callers must not run on a thread of Ratis's: it may wait for the registry, or
      // close it.
      return propose(id, command).whenCompleteAsync((result, error) -> {}, callers);
    }
    return call(leader, Services.COMMAND, RegistryCodec.encodeCommand(id, command), left)
        .thenCompose(CommandService::result);
  }

  /**
   * Proposes a command, at the leader, unless an older bus would find it in its log and could not
   * apply it.
   */
  private CompletableFuture<CommandResult> propose(CommandId id, RegistryCommand command) {
    CommandResult.Refused refused = OlderBuses.refusal(snapshot.get(), command);
    return refused == null ? gate.submit(id, command) : CompletableFuture.completedFuture(refused);
  }

  /** Reads a leader's answer to a command. */
  static CompletableFuture<CommandResult> result(byte[] answer) {
    try {
      return CompletableFuture.completedFuture(RegistryCodec.decodeResult(ByteBuffer.wrap(answer)));
    } catch (RegistryFormatException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Translates a failure at a leader, or on the way there. */
  static <T> CompletableFuture<T> failure(Throwable error) {
    Throwable cause = LeaderRetry.unwrap(error);
    return CompletableFuture.failedFuture(
        isOverload(cause)
            ? new RegistryOverloadedException("the leader: " + cause.getMessage())
            : cause);
  }

  static boolean isOverload(Throwable error) {
    return LeaderRetry.unwrap(error) instanceof LinkServiceException failure
        && failure.code().equals(OVERLOADED);
  }

  /** Makes one attempt to learn up to where the log was applied at least when this was called. */
  public CompletableFuture<Long> readIndex(Duration left) {
    String leader = group.leader();
    if (self.equals(leader)) {
      return confirmed().whenCompleteAsync((index, error) -> {}, callers);
    }
    return call(leader, Services.READ, new byte[0], left)
        .thenApply(
            bytes -> {
              if (bytes.length != Long.BYTES) {
                throw new LinkServiceException(
                    LinkServiceException.MALFORMED, "index: " + bytes.length + " bytes");
              }
              return ByteBuffer.wrap(bytes).getLong();
            });
  }

  private CompletableFuture<byte[]> call(
      @Nullable String leader, int service, byte[] request, Duration left) {
    InetSocketAddress address = leader == null ? null : peers.find(leader);
    if (address == null) {
      return CompletableFuture.failedFuture(
          new RegistryUnavailableException(
              leader == null ? "no leader is known" : "no address of " + leader + " is known"));
    }
    return links
        .call(address, Services.COMMANDS, service, request, left)
        .exceptionallyCompose(CommandService::failure);
  }

  private CompletionStage<byte[]> onCommand(LinkPeer peer, byte[] request) {
    TimedCommand command;
    try {
      command = RegistryCodec.decodeCommand(ByteBuffer.wrap(request));
    } catch (RegistryFormatException e) {
      throw new LinkServiceException(
          LinkServiceException.MALFORMED, String.valueOf(e.getMessage()));
    }
    checkLeader();
    return propose(command.id(), command.command())
        .handle(
            (result, error) -> {
              if (error != null) {
                throw toServiceException(LeaderRetry.unwrap(error));
              }
              return RegistryCodec.encodeResult(result);
            });
  }

  private CompletionStage<byte[]> onRead(LinkPeer peer, byte[] request) {
    checkLeader();
    return confirmed()
        .handle(
            (index, error) -> {
              if (error != null) {
                throw toServiceException(LeaderRetry.unwrap(error));
              }
              return ByteBuffer.allocate(Long.BYTES).putLong(index).array();
            });
  }

  /**
   * Returns, at the leader, the index up to which the log is applied here, once it is certain that
   * this bus led.
   */
  private CompletableFuture<Long> confirmed() {
    return gate.confirm().thenApply(nothing -> applied.getAsLong());
  }

  private void checkLeader() {
    if (!self.equals(group.leader())) {
      throw new LinkServiceException(NOT_LEADER, "bus " + self + " is not the leader");
    }
  }

  private static LinkServiceException toServiceException(Throwable error) {
    String message = String.valueOf(error.getMessage());
    if (error instanceof RegistryOverloadedException) {
      return new LinkServiceException(OVERLOADED, message);
    }
    boolean certain =
        error instanceof RegistryException known
            ? !known.maybeApplied()
            : LeaderRetry.isCertainlyNotApplied(error);
    return new LinkServiceException(certain ? NOT_LEADER : UNCERTAIN, message);
  }
}
