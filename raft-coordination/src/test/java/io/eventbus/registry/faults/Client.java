package io.eventbus.registry.faults;

import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.history.Operation;
import io.eventbus.registry.history.Operation.Kind;
import io.eventbus.registry.history.Outcome;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Client of the test: does one operation after the other at a bus, turns to another bus when it
 * gets no answer, and repeats commands with the same id, when the outcome is unknown and sometimes
 * when it is known.
 */
final class Client implements Runnable {
  private static final long DEADLINE_MILLIS = 1_500;
  private static final Duration TIMEOUT = Duration.ofMillis(2_500);
  private static final int MAX_ATTEMPTS = 4;

  /** Assumption of a client about a topic. */
  private record Belief(String token, long revision) {}

  private final String name;
  private final List<Bus> buses;
  private final Topics topics;
  private final Recorder recorder;
  private final Acknowledged acknowledged;
  private final CountDownLatch stop;
  private final int thinkMillis;
  private final Random random;
  private final Map<String, Belief> beliefs = new HashMap<>();
  private Bus bus;
  private long basis;
  private int count;

  Client(
      String name,
      Cluster cluster,
      Topics topics,
      Acknowledged acknowledged,
      CountDownLatch stop,
      int thinkMillis,
      long seed) {
    this.name = name;
    this.buses = cluster.buses();
    this.topics = topics;
    this.recorder = cluster.recorder();
    this.acknowledged = acknowledged;
    this.stop = stop;
    this.thinkMillis = thinkMillis;
    this.random = new Random(seed);
    this.bus = buses.get(random.nextInt(buses.size()));
  }

  @Override
  public void run() {
    try {
      while (!stop.await(random.nextInt(2 * thinkMillis + 1), TimeUnit.MILLISECONDS)) {
        if (!bus.isUp() || random.nextInt(100) == 0) {
          bus = buses.get(random.nextInt(buses.size()));
          continue;
        }
        operate();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      recorder.finding("client " + name + ": " + e);
    }
  }

  private void operate() throws InterruptedException {
    String topic = topics.next(random);
    Belief belief = beliefs.get(topic);
    int dice = random.nextInt(100);
    if (dice < 35 || (belief == null && dice < 60) || !topics.begin(topic)) {
      read(topic);
    } else if (belief == null || dice < 45) {
      submit(Kind.CREATE, topic, new Belief("", 0));
    } else {
      submit(dice < 85 ? Kind.CHANGE : Kind.DELETE, topic, belief);
    }
  }

  private void read(String topic) throws InterruptedException {
    Answer answer = ask("read " + DEADLINE_MILLIS + " " + topic);
    if (answer == null || !answer.kind().equals("value")) {
      elsewhere();
      return;
    }
    Outcome.Value value = value(answer);
    believe(topic, value.token(), value.revision());
    recorder.operation(
        new Operation(
            name + "." + ++count,
            name + "@" + bus.name(),
            Kind.READ,
            topic,
            "",
            "",
            answer.invoked(),
            answer.returned(),
            value));
  }

  static Outcome.Value value(Answer answer) {
    boolean present = answer.words().size() > 2;
    return new Outcome.Value(
        present ? answer.word(4) : "", present ? answer.number(3) : 0, answer.number(1));
  }

  private void believe(String topic, String token, long revision) {
    if (token.isEmpty()) {
      beliefs.remove(topic);
    } else {
      beliefs.put(topic, new Belief(token, revision));
    }
  }

  private void submit(Kind kind, String topic, Belief belief) throws InterruptedException {
    String token = kind == Kind.DELETE ? "" : name + "." + ++count;
    String request =
        "submit "
            + Math.max(0, basis - random.nextInt(3))
            + " "
            + random.nextLong()
            + " "
            + random.nextLong()
            + " "
            + DEADLINE_MILLIS
            + switch (kind) {
              case CREATE -> " create " + topic + " " + token;
              case CHANGE -> " change " + topic + " " + token + " " + belief.revision();
              case DELETE -> " delete " + topic + " " + belief.revision();
              case READ -> throw new IllegalArgumentException("a read is not submitted");
            };
    String where = name + "@" + bus.name();
    long invoked = System.nanoTime();
    long returned = invoked;
    boolean uncertain = false;
    Outcome outcome = null;
    for (int attempt = 0; attempt < MAX_ATTEMPTS && outcome == null; attempt++) {
      Answer answer = ask(request);
      if (answer != null && attempt == 0) {
        invoked = answer.invoked();
      }
      returned = answer == null ? System.nanoTime() : answer.returned();
      outcome = decided(answer);
      uncertain |= outcome == null && (answer == null || !answer.word(1).equals("not"));
      if (outcome == null) {
        elsewhere();
        if (stop.await(random.nextInt(50), TimeUnit.MILLISECONDS) || random.nextInt(4) == 0) {
          break;
        }
      }
    }
    if (outcome == null) {
      outcome = uncertain ? new Outcome.Unknown() : new Outcome.NotApplied();
    }
    boolean unknown = outcome instanceof Outcome.Unknown;
    if (!unknown) {
      topics.end(topic);
    }
    recorder.operation(
        new Operation(
            token.isEmpty() ? name + "." + ++count : token,
            where,
            kind,
            topic,
            token,
            belief.token(),
            invoked,
            unknown ? Long.MAX_VALUE : returned,
            outcome));
    learn(kind, topic, token, request, outcome);
  }

  /** Returns the outcome of the command by its answer; null if that is not known yet. */
  private @Nullable Outcome decided(@Nullable Answer answer) {
    if (answer == null || answer.kind().equals("error")) {
      return null;
    }
    if (answer.kind().equals("applied")) {
      return new Outcome.Applied(answer.number(1));
    }
    RegistryRefusalReason reason = RegistryRefusalReason.valueOf(answer.word(1));
    if (reason == RegistryRefusalReason.ID_FROM_THE_FUTURE) {
      recorder.finding(name + "@" + bus.name() + ": the registry has gone back: " + answer);
    }
    // Of these two the registry itself says that it cannot tell.
    return reason == RegistryRefusalReason.ID_FORGOTTEN
            || reason == RegistryRefusalReason.ID_FROM_THE_FUTURE
        ? new Outcome.Unknown()
        : new Outcome.Refused(reason, answer.number(2));
  }

  private void learn(Kind kind, String topic, String token, String request, Outcome outcome)
      throws InterruptedException {
    if (outcome instanceof Outcome.Applied applied) {
      believe(topic, kind == Kind.DELETE ? "" : token, applied.version());
    } else {
      beliefs.remove(topic);
    }
    if (outcome instanceof Outcome.Applied || outcome instanceof Outcome.Refused) {
      acknowledged.add(request, outcome);
      if (random.nextInt(10) == 0) {
        Bus before = bus;
        bus = buses.get(random.nextInt(buses.size()));
        acknowledged.compare(request, outcome, ask(request));
        bus = before;
      }
    }
  }

  private void elsewhere() {
    if (random.nextBoolean()) {
      bus = buses.get(random.nextInt(buses.size()));
    }
  }

  private @Nullable Answer ask(String request) throws InterruptedException {
    try {
      Answer answer = bus.ask(request).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      basis = answer.localVersion();
      return answer;
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }
}
