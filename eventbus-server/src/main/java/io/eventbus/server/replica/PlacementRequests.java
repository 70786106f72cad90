package io.eventbus.server.replica;

import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.link.LinkNode;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.server.durable.JournalRefusedException;
import io.eventbus.server.replica.PlacementMessages.Answer;
import io.eventbus.server.replica.PlacementMessages.Outcome;
import io.eventbus.server.replica.PlacementMessages.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Requests about the replicas of a shard. They go to all buses with a replica that are there: the
 * one that leads carries them out. Any thread.
 */
final class PlacementRequests implements AutoCloseable {
  /** Number of the service on links; {@link KnownEverywhere} has that before it. */
  static final int SERVICE = 45;

  private static final String CHANNEL = "journals";
  private static final Duration TIMEOUT = Duration.ofSeconds(4);
  private static final long PAUSE_MILLIS = 200;

  /** Time for all attempts: shorter than that of a request to the administration port. */
  private static final Duration DEADLINE = Duration.ofSeconds(7);

  private final LinkNode links;
  private final ReplicaPlace place;
  private final int number;
  private final PlacementDuty duty;
  private final ScheduledExecutorService executor;

  /**
   * Begins to answer other buses.
   *
   * @param number the number of the shard
   * @param executor that of the duty
   */
  PlacementRequests(
      ReplicaPlace place, int number, PlacementDuty duty, ScheduledExecutorService executor) {
    this.place = place;
    this.number = number;
    this.duty = duty;
    this.executor = executor;
    links = place.links();
    links.offer(
        SERVICE,
        (peer, request) -> here(peer.bus(), Request.decode(request)).thenApply(Answer::encode));
  }

  private CompletableFuture<Answer> here(String from, Request request) {
    try {
      return CompletableFuture.completedFuture(request)
          .thenComposeAsync(asked -> duty.answer(from, asked), executor);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Asks all buses once; the answer is that of the bus that leads, if one does. */
  CompletableFuture<Answer> ask(Request request) {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    answers.add(here(place.bus(), request));
    RegistrySnapshot registry = place.registry().snapshot();
    ShardInfo shard = registry.shard(number);
    for (ShardReplica replica : shard == null ? List.<ShardReplica>of() : shard.replicas()) {
      BusInfo bus = registry.bus(replica.bus());
      Endpoint address = bus == null ? null : bus.addresses().peers();
      if (bus != null
          && address != null
          && bus.state() != BusState.DOWN
          && !bus.id().value().equals(place.bus())) {
        answers.add(
            links
                .call(address.unresolved(), CHANNEL, SERVICE, request.encode(), TIMEOUT)
                .thenApply(Answer::decode));
      }
    }
    CompletableFuture<Answer> first = new CompletableFuture<>();
    for (CompletableFuture<Answer> answer : answers) {
      var unused =
          answer.thenAccept(
              told -> {
                if (told.outcome() != Outcome.NOT_LEADING) {
                  first.complete(told);
                }
              });
    }
    var unused =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]))
            .whenComplete(
                (nothing, error) ->
                    first.complete(
                        new Answer(
                            Outcome.NOT_LEADING,
                            error == null
                                ? "no bus leads the journals"
                                : String.valueOf(error.getMessage()))));
    return first;
  }

  /**
   * Asks until it is done. Fails with {@link JournalRefusedException}, or with {@link
   * JournalsUnavailableException} if it takes too long; asking again goes on.
   */
  CompletionStage<Void> untilDone(Request request) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    attempt(request, System.nanoTime(), done);
    return done;
  }

  private void attempt(Request request, long begun, CompletableFuture<Void> done) {
    var unused =
        ask(request)
            .whenComplete(
                (answer, error) -> {
                  if (error != null) {
                    done.completeExceptionally(error);
                  } else if (answer.outcome() == Outcome.DONE) {
                    done.complete(null);
                  } else if (answer.outcome() == Outcome.REFUSED) {
                    done.completeExceptionally(new JournalRefusedException(answer.detail(), false));
                  } else if (System.nanoTime() - begun > DEADLINE.toNanos()) {
                    done.completeExceptionally(
                        new JournalsUnavailableException(
                            "not done within "
                                + DEADLINE.toSeconds()
                                + " s: "
                                + answer.detail()
                                + "; asking for the same again is safe"));
                  } else {
                    again(request, begun, done);
                  }
                });
  }

  private void again(Request request, long begun, CompletableFuture<Void> done) {
    try {
      var unused =
          executor.schedule(
              () -> attempt(request, begun, done), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      done.completeExceptionally(new JournalsUnavailableException("the bus ends", e));
    }
  }

  /** Answers other buses no more. */
  @Override
  public void close() {
    links.withdraw(SERVICE);
  }
}
