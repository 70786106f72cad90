package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.subscription.RoutedSubscription;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resources that the subscriptions of greedy clients leave for others. */
class SubscriptionShareTest {
  private static final long POT = 512 << 10;
  private static final long OWN = POT / 8;
  private static final int PATTERNS = 64;
  private static final int OWN_PATTERNS = 16;
  private static final int GROUPS = 16;

  /** Constant time. */
  private static final long NOW = 77;

  private final SessionFixture bus =
      new SessionFixture(Clock.systemUTC(), TestAccess.open())
          .config(
              Map.of(
                  "limits.subscription-bytes",
                  String.valueOf(POT),
                  "limits.wildcard-patterns",
                  String.valueOf(PATTERNS),
                  "limits.topic-groups",
                  String.valueOf(GROUPS)))
          .budget(new WorkBudget(() -> NOW));
  private final LoopContext context = bus.context();
  private final List<Client> clients = new ArrayList<>();

  /** Client that was welcomed. */
  private final class Client {
    final FakeLink link = new FakeLink();
    final Session session = link.session(context);
    long ids;

    Client() {
      handle(
          ControlFrames.encode(
              TypeCode.HELLO,
              new Hello("client", "agent/1", null, null, Map.of(), null, null, null)));
      assertThat(link.taken()).hasSize(1);
      clients.add(this);
    }

    private void handle(byte[] frame) {
      context.budget().renew();
      int end = session.onMessage(ByteBuffer.wrap(frame), 0, frame.length, 77, () -> {});
      assertThat(end).isEqualTo(frame.length);
    }

    /** Returns the reason of the refusal; empty if there was none. */
    String subscribe(String filter) {
      return subscribe(filter, null);
    }

    /** Returns the reason of the refusal; empty if there was none. */
    String subscribe(String filter, @Nullable String group) {
      ids++;
      handle(
          ControlFrames.encode(
              TypeCode.SUBSCRIBE, new Subscribe(ids, filter, group, Overflow.BLOCK)));
      Object answer = link.taken().get(0);
      if (answer instanceof Problem problem) {
        assertThat(problem.getCode()).isEqualTo(ErrorCode.LIMIT_EXCEEDED);
        assertThat(problem.getAbout()).isEqualTo(ids);
        return problem.getMessage();
      }
      assertThat(answer).isInstanceOf(Confirm.class);
      return "";
    }

    void unsubscribe(long id) {
      handle(ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id)));
      bus.loops.runAll();
      link.taken();
    }

    /** Adds subscriptions with distinct topics until one is refused; returns the reason. */
    String fill() {
      for (int i = 0; ; i++) {
        String refusal = subscribe("client" + clients.indexOf(this) + ".topic." + i);
        if (!refusal.isEmpty()) {
          return refusal;
        }
      }
    }
  }

  @AfterEach
  void everythingIsReleased() {
    for (Client client : clients) {
      client.session.onClosed();
      assertThat(client.link.addressBytes).isZero();
    }
    assertThat(bus.index.bytes()).isZero();
    assertThat(bus.index.patterns()).isZero();
  }

  /** Adds and removes subscriptions of a topic with very many, and publishes events between. */
  private boolean makeRoutesAnew(Client publisher) {
    RoutedSubscription guest = other(">");
    for (long n = 1; n < 10_000; n++) {
      publisher.handle(SampleFrames.publish("a.b", n, false, "x"));
      if (bus.index.waitNanos(guest.filter(), NOW) > 0) {
        return true;
      }
      bus.index.add(guest);
      publisher.handle(SampleFrames.publish("a.b", ++n, false, "x"));
      bus.index.remove(guest);
      // A thousand of one loop get theirs in tasks of their own.
      context.router().flush();
      bus.loops.runAll();
    }
    return false;
  }

  private RoutedSubscription other(String filter) {
    return new RoutedSubscription(
        new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.DROP_OLDEST);
  }

  @Test
  void changesWaitWhenLargeRoutesAreRebuiltTooOften() {
    List<RoutedSubscription> crowd = IntStream.range(0, 1_000).mapToObj(i -> other("a.*")).toList();
    crowd.forEach(bus.index::add);
    Client client = new Client();
    assertThat(client.subscribe("x.*")).isEmpty();
    assertThat(makeRoutesAnew(new Client())).isTrue();

    assertThat(client.subscribe("y.c")).as("what concerns few").isEmpty();
    byte[] subscribe =
        ControlFrames.encode(
            TypeCode.SUBSCRIBE, new Subscribe(7L, ">", null, Overflow.DROP_OLDEST));
    byte[] unsubscribe = ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(1L));
    for (byte[] frame : List.of(subscribe, unsubscribe)) {
      ByteBuffer in = ByteBuffer.wrap(frame);
      long size = bus.index.size();
      context.budget().renew();
      assertThat(client.session.onMessage(in, 0, frame.length, 77, () -> {})).isZero();
      assertThat(bus.index.size()).as("nothing was done").isEqualTo(size);
      assertThat(client.link.laterNanos).isBetween(1L, TimeUnit.SECONDS.toNanos(4));
    }
    assertThat(client.link.taken()).isEmpty();
    crowd.forEach(bus.index::remove);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a.b", "a.*", ">"})
  void groupsOfOneTopicAreBounded(String filter) {
    Client greedy = new Client();
    for (int g = 0; g < GROUPS / 2; g++) {
      assertThat(greedy.subscribe(filter, "g" + g)).isEmpty();
    }
    assertThat(greedy.subscribe(filter, "one more"))
        .contains(GROUPS / 2 + " groups", "expected: at most " + GROUPS, "limits.topic-groups");
    assertThat(greedy.subscribe(filter, "g0")).as("a group that is there").isEmpty();

    for (int g = GROUPS / 2; g < GROUPS; g++) {
      assertThat(new Client().subscribe(filter, "g" + g)).as("the first of a client").isEmpty();
    }
    Client late = new Client();
    assertThat(late.subscribe(filter, "one more")).contains(GROUPS + " groups");
    assertThat(late.subscribe(filter, "g3")).isEmpty();
    assertThat(late.subscribe("x.y", "one more")).as("another topic").isEmpty();

    clients.get(3).session.onClosed();
    assertThat(new Client().subscribe(filter, "one more")).isEmpty();
  }

  @Test
  void limitsAConnectionToAnEighthOfTheBytes() {
    Client client = new Client();
    assertThat(client.fill())
        .contains("the subscriptions of the connection")
        .contains("at most " + OWN + " together, an eighth of limits.subscription-bytes");
    assertThat(bus.index.bytes()).isBetween(OWN * 9 / 10, OWN);
    client.unsubscribe(1);
    assertThat(client.subscribe("client0.topic.0")).isEmpty();
    assertThat(client.subscribe("client0.topic.x")).isNotEmpty();
    assertThat(new Client().subscribe("a")).isEmpty();
  }

  @Test
  void nodesAreEstimatedBeforeTheyAreMade() {
    Client client = new Client();
    String refusal = "";
    for (int i = 0; refusal.isEmpty(); i++) {
      StringBuilder filter = new StringBuilder();
      for (int token = 0; token < 15; token++) {
        filter.append(i).append('_').append(token).append('.');
      }
      refusal = client.subscribe(filter.append('*').toString());
      assertThat(bus.index.bytes()).isLessThanOrEqualTo(OWN);
    }
    assertThat(bus.index.bytes()).isGreaterThan(OWN * 8 / 10);
  }

  @Test
  void aSmallConnectionGoesOnWhileOthersUseTheirShares() {
    List<Client> greedy = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      greedy.add(new Client());
    }
    String last = "";
    for (Client client : greedy) {
      last = client.fill();
    }
    assertThat(last).contains("three quarters of " + POT).contains("less than 32768");
    for (Client client : greedy) {
      assertThat(client.subscribe("more." + clients.indexOf(client))).isNotEmpty();
    }
    Client newcomer = new Client();
    for (int i = 0; i < 20; i++) {
      assertThat(newcomer.subscribe("mine." + i + ".>")).isEmpty();
    }
  }

  @Test
  void theBusIsFullWhenManyUseTheirShares() {
    String refusal = "";
    while (!refusal.contains("the bus has all")) {
      assertThat(clients).hasSizeLessThan(20);
      refusal = new Client().fill();
    }
    assertThat(refusal).contains("at most " + POT + " together, limits.subscription-bytes");
    assertThat(bus.index.bytes()).isBetween(POT * 9 / 10, POT);
    clients.get(0).session.onClosed();
    assertThat(new Client().subscribe("a")).isEmpty();
  }

  @Test
  void anAddressHasAShareOfItsOwn() {
    Client client = new Client();
    client.link.addressRoom = 2000;
    assertThat(client.fill())
        .contains("address")
        .contains("limits.address-memory-percent of " + POT);
    assertThat(client.link.addressBytes).isBetween(1500L, 2000L);
    long full = client.link.addressBytes;
    client.unsubscribe(1);
    assertThat(client.link.addressBytes).isLessThan(full);
    assertThat(client.subscribe("client0.topic.0")).isEmpty();
    assertThat(client.link.addressBytes).isEqualTo(full);
  }

  /** Returns a filter of eight tokens with wildcards where the bits are set. */
  private static String filter(int bits) {
    StringBuilder filter = new StringBuilder("x");
    for (int i = 0; i < 7; i++) {
      filter.append((bits >> i & 1) == 1 ? ".*" : ".a");
    }
    return filter.toString();
  }

  @Test
  void limitsAConnectionToASixteenthOfThePatterns() {
    Client client = new Client();
    for (int bits = 1; bits <= OWN_PATTERNS; bits++) {
      assertThat(client.subscribe(filter(bits))).isEmpty();
    }
    assertThat(client.subscribe(filter(100)))
        .contains("patterns of wildcards with more than four tokens")
        .contains("at most 16, a sixteenth of limits.wildcard-patterns");
    assertThat(client.subscribe(filter(1).replace('a', 'b'))).as("the same pattern").isEmpty();
    assertThat(new Client().subscribe(filter(100))).isEmpty();
    assertThat(client.subscribe(filter(100))).as("it is there now").isEmpty();
    client.unsubscribe(1);
    assertThat(client.subscribe(filter(101))).as("another one has it still").isNotEmpty();
    client.unsubscribe(2);
    client.unsubscribe(3);
    assertThat(client.subscribe(filter(101))).isEmpty();
  }

  @Test
  void theBusHasABoundForPatterns() {
    int bits = 1;
    for (int i = 0; i < PATTERNS / OWN_PATTERNS; i++) {
      Client client = new Client();
      for (int n = 0; n < OWN_PATTERNS; n++) {
        assertThat(client.subscribe(filter(bits++))).isEmpty();
      }
    }
    assertThat(bus.index.patterns()).isEqualTo(PATTERNS);
    Client newcomer = new Client();
    assertThat(newcomer.subscribe(filter(bits)))
        .contains("the filters of all clients have 64 patterns")
        .contains("at most 64, limits.wildcard-patterns");
    assertThat(newcomer.subscribe(filter(1))).as("a pattern that is there").isEmpty();
    assertThat(newcomer.subscribe("a.*.*.c.>")).as("one of the few short ones").isEmpty();
    assertThat(newcomer.subscribe("a.b.c.d.e.f")).as("no wildcards").isEmpty();
    assertThat(newcomer.subscribe(">")).isEmpty();
    clients.get(0).session.onClosed();
    assertThat(newcomer.subscribe(filter(bits))).isEmpty();
  }
}
