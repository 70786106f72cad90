package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import io.eventbus.server.BusServer;
import io.eventbus.testing.TestPorts;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Buses that know a client again after a restart or a move. */
@Timeout(180)
class ResumeKeyIT {
  private static final String CHOSEN = "A".repeat(43);

  private static final ReconnectPolicy EAGER =
      new ReconnectPolicy(Duration.ofMillis(20), Duration.ofMillis(200), 2, 0.5, Integer.MAX_VALUE);

  private final Path directory;

  ResumeKeyIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private static Welcome hello(URI uri, String resume) throws Exception {
    try (RawClient client = RawClient.upgraded(uri)) {
      return client.hello(resume);
    }
  }

  private static Welcome fresh(URI uri) throws Exception {
    try (RawClient client = RawClient.upgraded(uri)) {
      return client.hello(null);
    }
  }

  private String key(String name, String content) throws Exception {
    return Files.writeString(directory.resolve(name), content.repeat(32)).toString();
  }

  private static void assertKnown(URI uri, Welcome before) throws Exception {
    Welcome again = hello(uri, before.getResume());
    assertThat(again.getProducer()).isEqualTo(before.getProducer());
    assertThat(again.getResume()).isEqualTo(before.getResume());
  }

  private static void assertForeign(URI uri, Welcome before) throws Exception {
    Welcome other = hello(uri, before.getResume());
    assertThat(other.getProducer()).isNotEqualTo(before.getProducer());
    assertThat(other.getResume()).isNotEqualTo(before.getResume());
    assertKnown(uri, other);
  }

  @Test
  void aBusThatWasToldNothingKnowsItsClientsAfterItWasKilled() throws Exception {
    Path home = Files.createDirectory(directory.resolve("home"));
    BusProcess bus = BusProcess.startAtHome(home);
    try {
      Welcome first = fresh(bus.uri());
      bus.kill();
      bus = BusProcess.startAtHome(home);
      assertKnown(bus.uri(), first);
      assertThat(hello(bus.uri(), CHOSEN).getResume()).isNotEqualTo(CHOSEN);
      bus.kill();
      Path other = Files.createDirectory(directory.resolve("other"));
      bus = BusProcess.startAtHome(other);
      assertForeign(bus.uri(), first);
    } finally {
      bus.kill();
    }
  }

  @Test
  void busesOfOneClusterKnowEachOthersClients() throws Exception {
    try (FederatedBuses cluster =
        FederatedBuses.start(
            directory.resolve("cluster"), 2, "auth.resume-key-file", "", "limits.groups", "10")) {
      URI one = cluster.bus(0).uri();
      URI two = cluster.bus(1).uri();
      Welcome first = fresh(one);
      assertKnown(two, first);
      assertReplaced(one, two);
      assertKnown(one, fresh(two));
      assertThat(hello(one, CHOSEN).getProducer()).isNotEqualTo(hello(two, CHOSEN).getProducer());
      try (BusServer stranger =
          TestBus.startMember(
              directory.resolve("stranger"),
              "bus-x",
              "auth.resume-key-file",
              "",
              "cluster.secret",
              "another-secret-for-tests",
              "cluster.leave",
              "0s")) {
        assertForeign(stranger.uri(), first);
      }
    }
  }

  /**
   * Asserts that a client whose connection to one bus is still open is taken over by the other one.
   */
  private static void assertReplaced(URI one, URI two) throws Exception {
    try (RawClient left = RawClient.upgraded(one);
        RawClient stays = RawClient.upgraded(one);
        RawClient now = RawClient.upgraded(two)) {
      Welcome before = left.hello(null);
      Welcome other = stays.hello(null);
      now.send(
          ControlFrames.encode(
              TypeCode.HELLO,
              new Hello(
                  "x", "x", null, before.getResume(), Map.of(), null, null, before.getSession())));
      assertThat(left.awaitClose()).isEqualTo(4503);
      stays.send(ControlFrames.encode(TypeCode.ECHO, new Echo(1L)));
      stays.expect(TypeCode.ECHO);
      assertThat(other.getProducer()).isNotEqualTo(before.getProducer());
    }
  }

  @Test
  void aKeyThatIsNamedComesBeforeTheSecretOfTheCluster() throws Exception {
    String key = key("one", "1");
    try (BusServer alone = TestBus.start("auth.resume-key-file", key);
        BusServer member =
            TestBus.startMember(
                directory, "bus-m", "auth.resume-key-file", key, "cluster.leave", "0s");
        BusServer other = TestBus.start("auth.resume-key-file", key("two", "2"))) {
      Welcome first = fresh(alone.uri());
      assertKnown(member.uri(), first);
      assertForeign(other.uri(), first);
    }
  }

  @Test
  void aMoveTokenNeedsTheProvedNumber() throws Exception {
    try (WatchedBus bus = WatchedBus.alone()) {
      try (RawClient client = RawClient.upgraded(bus.uri())) {
        client.send(
            ControlFrames.encode(
                TypeCode.HELLO,
                new Hello("x", "x", null, CHOSEN, Map.of(), "any-token", null, null)));
        Ending ending = Ending.of(client);
        assertThat(ending.problems()).hasSize(1);
        assertThat(ending.problems().get(0).getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
        assertThat(ending.problems().get(0).getMessage()).contains("auth.resume-key-file");
        assertThat(ending.code()).isEqualTo(4500);
      }
      assertThat(bus.metric("eventbus_resumes_rejected_total")).isZero();
      Welcome welcome = hello(bus.uri(), CHOSEN);
      assertThat(welcome.getResume()).isNotEqualTo(CHOSEN);
      assertThat(bus.metric("eventbus_resumes_rejected_total")).isEqualTo(1);
    }
  }

  @Test
  void aClientGoesOnAtABusThatHasAnotherKey() throws Exception {
    BlockingQueue<Long> numbers = new LinkedBlockingQueue<>();
    ConnectionListener listener =
        new ConnectionListener() {
          @Override
          public void producerChanged(long before, long now) {
            numbers.add(before);
            numbers.add(now);
          }
        };
    int port = TestPorts.find();
    BusServer bus =
        TestBus.start(
            "listen.port", Integer.toString(port), "auth.resume-key-file", key("one", "1"));
    try (EventBusClient client =
        EventBusClient.builder().url(bus.uri()).listener(listener).reconnect(EAGER).connect()) {
      long before = client.connection().orElseThrow().producer();
      assertThat(publish(client)).isEqualTo(new Published("t", before, 1, 0));
      assertThat(publish(client)).isEqualTo(new Published("t", before, 2, 0));
      bus.close();
      bus =
          TestBus.start(
              "listen.port", Integer.toString(port), "auth.resume-key-file", key("two", "2"));
      Published third = publish(client);
      assertThat(third.producer()).isNotEqualTo(before);
      assertThat(third.sequence()).isEqualTo(1);
      assertThat(numbers.poll(60, TimeUnit.SECONDS)).isEqualTo(before);
      assertThat(numbers.poll(60, TimeUnit.SECONDS)).isEqualTo(third.producer());
      bus.close();
      bus =
          TestBus.start(
              "listen.port", Integer.toString(port), "auth.resume-key-file", key("two", "2"));
      assertThat(publish(client)).isEqualTo(new Published("t", third.producer(), 2, 0));
      assertThat(numbers).isEmpty();
    } finally {
      bus.close();
    }
  }

  private static Published publish(EventBusClient client) throws Exception {
    return client.publish("t", "x").toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
