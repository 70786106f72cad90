package io.eventbus.server;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** State of a bus, and the reason of its failure. Any thread. */
final class BusLife {
  private static final Logger LOG = LoggerFactory.getLogger(BusLife.class);

  private final AtomicReference<ServerState> state = new AtomicReference<>(ServerState.STARTING);
  private final CompletableFuture<String> failure = new CompletableFuture<>();

  ServerState state() {
    return Objects.requireNonNull(state.get());
  }

  /** Ends the start; returns why the bus has failed meanwhile, empty if it is up now. */
  Optional<String> becomeUp() {
    return move(ServerState.STARTING, ServerState.UP) ? Optional.empty() : Optional.of(reason());
  }

  /** Marks the bus as failed. Failures while it ends are part of its end. */
  void fail(String reason) {
    // In the order of its life: it may come up meanwhile.
    if (move(ServerState.STARTING, ServerState.FAILED)
        || move(ServerState.UP, ServerState.FAILED)) {
      // First, because the heap may be used up, and then there is no message.
      failure.complete(reason);
      LOG.error("the bus has failed: {}", reason);
    }
  }

  /** Returns whether the caller is to end the bus: the first one, of a bus that was up. */
  boolean beginEnd() {
    return move(ServerState.UP, ServerState.DRAINING)
        || move(ServerState.FAILED, ServerState.DRAINING);
  }

  void end() {
    state.set(ServerState.STOPPED);
  }

  boolean hasFailed() {
    return failure.isDone();
  }

  String reason() {
    return failure.getNow("failed");
  }

  CompletionStage<String> failed() {
    return failure.minimalCompletionStage();
  }

  private boolean move(ServerState from, ServerState to) {
    assert from.mayBecome(to) : from + " cannot become " + to;
    return state.compareAndSet(from, to);
  }
}
