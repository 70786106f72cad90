package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Service;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOffer;
import io.eventbus.client.TunnelOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Operations of the kit about streams and tunnels. {@link #take} is for one thread. */
final class TunnelOps {
  private static final int MAX_WINDOW = 4 << 20;

  /** Timeout of a handler for the kit's decision about an offer. */
  private static final long DECISION_SECONDS = 30;

  /** An open tunnel and its reader. */
  private record Open(Tunnel tunnel, CompletableFuture<Flow.Subscription> reading) {}

  private final Output out;
  private final Map<String, Open> tunnels = new ConcurrentHashMap<>();
  private final Map<Long, Decision> offers = new ConcurrentHashMap<>();
  private final Map<Long, String> names = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  // Number of the current scenario.
  private long scenario;

  TunnelOps(Output out) {
    this.out = out;
  }

  /** Returns whether an operation is one of these. */
  static boolean knows(String op) {
    return switch (op) {
      case "tunnel",
          "acceptTunnel",
          "refuseTunnel",
          "sendTunnel",
          "readTunnel",
          "endTunnel",
          "resetTunnel",
          "stream" ->
          true;
      default -> false;
    };
  }

  /**
   * Executes a request; the answer follows later.
   *
   * @throws IllegalStateException if it names something unknown
   */
  void take(long id, String op, String on, EventBusClient client, JsonNode args) {
    switch (op) {
      case "tunnel" -> tunnel(id, on, client, args);
      case "stream" -> stream(id, on, client, args);
      case "acceptTunnel", "refuseTunnel" -> {
        long offer = args.path("offer").longValue();
        names.put(offer, args.path("as").asText());
        Decision decision = known(offers.remove(offer), args);
        decision.accepts().complete(op.equals("acceptTunnel"));
        // The next request of the kit needs the tunnel.
        answer(id, decision.carriedOut());
      }
      case "sendTunnel" ->
          answer(id, open(args).tunnel().send(JavaSdk.event(args).payload()).toCompletableFuture());
      case "readTunnel" -> {
        long messages = args.path("messages").asLong(1);
        CompletableFuture<Void> unused =
            open(args).reading().thenAccept(reading -> reading.request(messages));
        out.ok(id, Output.object());
      }
      case "endTunnel" -> {
        open(args).tunnel().closeOutput();
        out.ok(id, Output.object());
      }
      default -> {
        open(args).tunnel().reset(args.path("type").asText(), args.path("message").asText());
        out.ok(id, Output.object());
      }
    }
  }

  private Open open(JsonNode args) {
    return known(tunnels.get(args.path("tunnel").asText()), args);
  }

  private static <T> T known(@Nullable T named, JsonNode args) {
    if (named == null) {
      throw new IllegalStateException(args + " (expected: names that were given)");
    }
    return named;
  }

  private static TunnelOptions options(JsonNode args) {
    int window = args.path("window").asInt(TunnelOptions.DEFAULT.windowBytes());
    return TunnelOptions.DEFAULT
        .withWindow(window, args.has("window") ? window : MAX_WINDOW)
        .withRequest(
            RequestOptions.DEFAULT
                .withTimeout(Duration.ofMillis(args.path("timeout").asLong(5_000)))
                .withMethod(args.path("method").asText("")));
  }

  // Its outcome is written here; the future itself is of no interest.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void tunnel(long id, String on, EventBusClient client, JsonNode args) {
    client
        .tunnel(args.path("service").asText(), JavaSdk.event(args), options(args))
        .whenComplete(
            (tunnel, failure) -> {
              if (failure == null) {
                add(on, args.path("as").asText(), tunnel);
                out.ok(id, Output.object().put("payload", tunnel.opening().payload()));
              } else {
                out.failed(id, failure);
              }
            });
  }

  private void add(String on, String name, Tunnel tunnel) {
    CompletableFuture<Flow.Subscription> reading = new CompletableFuture<>();
    tunnels.put(name, new Open(tunnel, reading));
    tunnel.messages().subscribe(new Messages(on, name, reading));
  }

  private void stream(long id, String on, EventBusClient client, JsonNode args) {
    String name = args.path("as").asText();
    client
        .requestStream(args.path("service").asText(), JavaSdk.event(args), options(args))
        .subscribe(
            new Flow.Subscriber<>() {
              private final Messages messages = new Messages(on, name, new CompletableFuture<>());

              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                out.ok(id, Output.object());
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(io.eventbus.client.Response response) {
                messages.onNext(response.event().payload());
              }

              @Override
              public void onError(Throwable failure) {
                messages.onError(failure);
              }

              @Override
              public void onComplete() {
                messages.onComplete();
              }
            });
  }

  /** Lets a service accept or refuse tunnels as the kit decides, and answer with streams. */
  void serve(String on, String name, Service service, JsonNode args) {
    service.onTunnel(options(args), offer -> offered(on, name, offer));
    service.onStream(
        invocation -> subscriber -> subscriber.onSubscribe(new Counting(subscriber, 3)));
  }

  /** The kit's decision about an offered tunnel, and its completion. */
  private record Decision(CompletableFuture<Boolean> accepts, CompletableFuture<Void> carriedOut) {}

  private void offered(String on, String service, TunnelOffer offer) throws Exception {
    long number = numbers.incrementAndGet();
    Decision decision = new Decision(new CompletableFuture<>(), new CompletableFuture<>());
    offers.put(number, decision);
    out.write(
        out.event("offered", on)
            .put("service", service)
            .put("offer", number)
            .put("payload", offer.invocation().event().payload()));
    if (!decision.accepts().get(DECISION_SECONDS, TimeUnit.SECONDS)) {
      decision.carriedOut().complete(null);
      throw Rejected.refused("the script refuses it", Duration.ZERO);
    }
    add(on, String.valueOf(names.get(number)), offer.accept(Event.of("accepted")));
    decision.carriedOut().complete(null);
  }

  private void answer(long id, CompletableFuture<Void> stage) {
    CompletableFuture<Void> unused =
        stage.whenComplete(
            (value, failure) -> {
              if (failure == null) {
                out.ok(id, Output.object());
              } else {
                out.failed(id, failure);
              }
            });
  }

  /** Forgets all names. Later messages of this scenario's tunnels must not reach the next one. */
  void reset() {
    synchronized (this) {
      scenario++;
    }
    tunnels.clear();
    offers.clear();
    names.clear();
  }

  private synchronized void tell(long of, ObjectNode line) {
    if (of == scenario) {
      out.write(line);
    }
  }

  private synchronized long scenario() {
    return scenario;
  }

  /** Reports received messages. */
  private final class Messages implements Flow.Subscriber<byte[]> {
    private final String on;
    private final String name;
    private final CompletableFuture<Flow.Subscription> reading;
    private final long scenario = scenario();

    Messages(String on, String name, CompletableFuture<Flow.Subscription> reading) {
      this.on = on;
      this.name = name;
      this.reading = reading;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      reading.complete(subscription);
    }

    @Override
    public void onNext(byte[] message) {
      ObjectNode line = out.event("tunnelMessage", on).put("tunnel", name);
      tell(scenario, line.put("size", message.length).put("payload", message));
    }

    @Override
    public void onError(Throwable failure) {
      ObjectNode line = out.event("tunnelEnded", on).put("tunnel", name);
      tell(scenario, line.put("code", Output.code(failure)));
    }

    @Override
    public void onComplete() {
      tell(scenario, out.event("tunnelEnded", on).put("tunnel", name).put("code", ""));
    }
  }

  /** Publisher of the numbers from 1 to a count, on demand. */
  private static final class Counting implements Flow.Subscription {
    private final Flow.Subscriber<? super Event> to;
    private final int max;
    private int next = 1;
    private boolean publishing;
    private long asked;

    Counting(Flow.Subscriber<? super Event> to, int max) {
      this.to = to;
      this.max = max;
    }

    @Override
    public synchronized void request(long n) {
      asked += n;
      if (publishing) {
        return;
      }
      publishing = true;
      while (asked > 0 && next <= max) {
        asked--;
        to.onNext(Event.of(Integer.toString(next++)));
      }
      publishing = false;
      if (next == max + 1) {
        next++;
        to.onComplete();
      }
    }

    @Override
    public synchronized void cancel() {
      next = max + 2;
    }
  }
}
