package io.eventbus.server.replica;

import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.link.LinkNode;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Question to the other buses whether they go by the journals as they are: answered when a bus has
 * applied what was committed before. Any thread.
 */
final class KnownEverywhere implements AutoCloseable {
  /** Number of the service on links; earlier sessions have that before it. */
  static final int SERVICE = 44;

  private static final String CHANNEL = "journals";
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final LinkNode links;
  private final ReplicaPlace place;

  /**
   * Begins to answer other buses.
   *
   * @param opened completes when this bus has its replica
   */
  KnownEverywhere(ReplicaPlace place, CompletionStage<? extends Journals> opened) {
    this.place = place;
    links = place.links();
    links.offer(
        SERVICE,
        (peer, request) ->
            opened.thenCompose(Journals::appliedUpToNow).thenApply(nothing -> new byte[0]));
  }

  /**
   * Completes when all buses that are up have applied what was committed before. Fails with {@link
   * JournalsUnavailableException}, which names those that have not answered.
   */
  CompletionStage<Void> ask() {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    TreeMap<String, String> silent = new TreeMap<>();
    for (BusInfo bus : place.registry().snapshot().buses()) {
      Endpoint address = bus.addresses().peers();
      String name = bus.id().value();
      if (bus.state() != BusState.UP || name.equals(place.bus()) || address == null) {
        continue;
      }
      answers.add(
          links
              .call(address.unresolved(), CHANNEL, SERVICE, new byte[0], TIMEOUT)
              .handle(
                  (answer, error) -> {
                    if (error != null) {
                      synchronized (silent) {
                        silent.put(name, String.valueOf(error.getMessage()));
                      }
                    }
                    return null;
                  }));
    }
    return CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]))
        .thenRun(
            () -> {
              synchronized (silent) {
                if (!silent.isEmpty()) {
                  throw new JournalsUnavailableException(
                      "done, but these buses may not know it yet: "
                          + silent.entrySet().stream()
                              .map(bus -> bus.getKey() + " (" + bus.getValue() + ")")
                              .collect(Collectors.joining(", "))
                          + "; asking for the same again waits for them");
                }
              }
            });
  }

  /** Answers other buses no more. */
  @Override
  public void close() {
    links.withdraw(SERVICE);
  }
}
