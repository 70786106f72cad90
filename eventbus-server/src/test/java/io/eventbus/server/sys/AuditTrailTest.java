package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.advisory.Advisory;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AuditTrailTest {
  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<String> published = new CopyOnWriteArrayList<>();
  private final AtomicLong nanos = new AtomicLong();
  private final LongAdder dropped = new LongAdder();

  private AuditTrail trail(boolean kept, Consumer<String> to) {
    return new AuditTrail(
        "bus.1",
        kept,
        to,
        topic -> topic.equals("$SYS.audit.bus%2E1.client_refused"),
        Clock.fixed(NOW, ZoneOffset.UTC),
        nanos::get,
        dropped);
  }

  private static Advisory refused(String reason) {
    return new Advisory.ClientRefused("192.0.2.1:5", "", "", "", reason);
  }

  private static Advisory.PermissionDenied denied(String name) {
    return new Advisory.PermissionDenied(
        "192.0.2.1:5", "c", "", "u1", "publish", name, "no rule allows it", 1);
  }

  /** Readers of lines may end them elsewhere, and a terminal may turn texts around. */
  @Test
  void invisibleCharactersAreEscaped() throws Exception {
    AuditTrail trail = trail(true, lines::add);
    trail.start();
    trail.accept(refused("a\u2028b\u202ec\u0085d\u007fe\udb40\udc41f é 東"));
    trail.close();
    assertThat(lines)
        .singleElement()
        .asString()
        .contains("\"reason\":\"a\\u2028b\\u202ec\\u0085d\\u007fe\\udb40\\udc41f é 東\"");
  }

  @Test
  void anEntryIsALineAndAnEventForWhoeverSubscribes() throws Exception {
    AuditTrail trail = trail(true, lines::add);
    CountDownLatch told = new CountDownLatch(1);
    trail.publishTo(
        (topic, payload) -> {
          published.add(topic);
          told.countDown();
        });
    trail.accept(refused("showed a wrong token"));
    trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", "/x", 200, ""));
    trail.start();
    assertThat(told.await(60, TimeUnit.SECONDS)).isTrue();
    trail.close();
    assertThat(lines)
        .containsExactly(
            "{\"bus\":\"bus.1\",\"at\":\"2026-01-02T03:04:05Z\",\"type\":\"client_refused\",\"omitted\":0,"
                + "\"detail\":{\"remoteAddress\":\"192.0.2.1:5\",\"client\":\"\",\"account\":\"\",\"subject\":\"\",\"reason\":\"showed"
                + " a wrong token\"}}",
            "{\"bus\":\"bus.1\",\"at\":\"2026-01-02T03:04:05Z\",\"type\":\"admin_action\",\"omitted\":0,"
                + "\"detail\":{\"caller\":\"u1\",\"callerAccount\":\"ops\",\"role\":\"admin\","
                + "\"remoteAddress\":\"a\",\"method\":\"PUT\",\"target\":\"/x\",\"status\":200,\"reason\":\"\"}}");
    assertThat(published).containsExactly("$SYS.audit.bus%2E1.client_refused");
  }

  @Test
  void aFailureCostsNoLaterEntry() throws Exception {
    CountDownLatch written = new CountDownLatch(2);
    AuditTrail trail =
        trail(
            true,
            line -> {
              written.countDown();
              if (written.getCount() > 0) {
                throw new StackOverflowError("on purpose");
              }
              lines.add(line);
            });
    trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", "/1", 200, ""));
    trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", "/2", 200, ""));
    trail.start();
    assertThat(written.await(60, TimeUnit.SECONDS)).isTrue();
    trail.close();
    assertThat(lines).singleElement().asString().contains("/2");
  }

  @Test
  void withoutAFileOnlyWhatIsSubscribedToIsMade() throws Exception {
    AuditTrail trail = trail(false, lines::add);
    CountDownLatch told = new CountDownLatch(1);
    trail.accept(refused("before there is a way to publish"));
    trail.publishTo(
        (topic, payload) -> {
          published.add(topic);
          told.countDown();
        });
    trail.start();
    trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", "/x", 200, ""));
    trail.accept(refused("x"));
    assertThat(told.await(60, TimeUnit.SECONDS)).isTrue();
    trail.close();
    assertThat(published).containsExactly("$SYS.audit.bus%2E1.client_refused");
    assertThat(lines).isEmpty();
    assertThat(dropped.sum()).isZero();
  }

  @Test
  void aCrowdIsCountedAndOperatorsAreAlwaysKept() {
    AuditTrail trail = trail(true, lines::add);
    for (int i = 0; i < AuditShares.MAX_OF_ONE + 7; i++) {
      trail.accept(refused("x"));
    }
    trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", "/x", 200, ""));
    trail.start();
    trail.close();
    assertThat(lines).hasSize(AuditShares.MAX_OF_ONE + 1);
    assertThat(lines.get(lines.size() - 1)).contains("admin_action", "\"omitted\":7");
    assertThat(dropped.sum()).isEqualTo(7);
  }

  private static Advisory connected(String subject) {
    return new Advisory.ClientConnected(1, "192.0.2.1:5", "s", "c", "a", "acme", subject, "jwt");
  }

  @Test
  void aClientCannotHideAnother() {
    AuditShares shares = new AuditShares(0);
    for (int i = 0; i < AuditShares.MAX_OF_ONE; i++) {
      assertThat(shares.take(refused("x"), 0)).isTrue();
      assertThat(shares.take(connected("u1"), 0)).isTrue();
    }
    assertThat(shares.take(refused("x"), 0)).isFalse();
    assertThat(shares.take(connected("u1"), 0)).isFalse();
    assertThat(shares.take(connected("u2"), 0)).as("another identity").isTrue();
    assertThat(shares.take(new Advisory.ClientRefused("192.0.2.2:5", "", "", "", "x"), 0))
        .as("another address")
        .isTrue();
    assertThat(shares.take(refused("x"), TimeUnit.SECONDS.toNanos(1))).as("later").isTrue();
  }

  @Test
  void strangersOfManyAddressesDoNotHideThoseWhoAreKnown() {
    AuditShares shares = new AuditShares(0);
    int taken = 0;
    for (int i = 0; i < 2 * AuditShares.MAX_OF_KIND; i++) {
      String address = "10.0." + i / 256 + "." + i % 256 + ":5";
      taken += shares.take(new Advisory.ClientRefused(address, "", "", "", "x"), 0) ? 1 : 0;
    }
    assertThat(taken).isEqualTo(AuditShares.MAX_OF_KIND);
    assertThat(shares.take(connected("u1"), 0)).isTrue();
  }

  @Test
  void anAddressHasNoPortAndOneNetworkIsOneClient() {
    assertThat(AuditShares.network("/192.0.2.1:5")).isEqualTo("192.0.2.1");
    assertThat(AuditShares.network("[2001:db8::1]:5"))
        .isEqualTo(AuditShares.network("/[2001:db8:0:0:7:7:7:7]:6"))
        .isNotEqualTo(AuditShares.network("[2001:db8:0:1::1]:5"));
  }

  @Test
  void entriesWaitingForTheDiskAreBounded() throws Exception {
    Semaphore written = new Semaphore(0);
    AuditTrail trail =
        trail(
            true,
            line -> {
              lines.add(line);
              written.release();
            });
    String target = "/" + "x".repeat(10_000);
    long max = AuditTrail.MAX_QUEUED_BYTES / AuditTrail.MAX_TEXT;
    for (long i = 0; i < max; i++) {
      trail.accept(new Advisory.AdminAction("u1", "ops", "admin", "a", "PUT", target, 200, ""));
    }
    trail.start();
    // The end waits for a second only.
    assertThat(written.tryAcquire((int) (max - dropped.sum()), 60, TimeUnit.SECONDS)).isTrue();
    trail.close();
    assertThat(lines.get(0)).hasSizeBetween(AuditTrail.MAX_TEXT, 2 * AuditTrail.MAX_TEXT);
    assertThat(lines.stream().mapToLong(String::length).sum())
        .isLessThanOrEqualTo(AuditTrail.MAX_QUEUED_BYTES);
    assertThat(dropped.sum()).isEqualTo(max - lines.size()).isPositive();
  }

  @Test
  void repeatedDenialsAreCounted() {
    AuditTrail trail = trail(true, lines::add);
    for (int i = 0; i < 5; i++) {
      trail.accept(denied("topic a"));
    }
    trail.accept(denied("topic b"));
    nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
    trail.accept(denied("topic a"));
    trail.start();
    trail.close();
    assertThat(lines)
        .extracting(
            line -> line.replaceAll(".*name\":\"(.*)\",\"reason\".*\"count\":(\\d+).*", "$1 $2"))
        .containsExactly("topic a 1", "topic b 1", "topic a 4", "topic a 1");
  }

  @Test
  void deniedThingsThatAreAllDifferentAreBounded() {
    DenialCounts counts = new DenialCounts();
    assertThat(counts.add(denied("first"), 0)).hasSize(1);
    assertThat(counts.add(denied("first"), 0)).isEmpty();
    for (int i = 1; i < DenialCounts.MAX_DENIALS; i++) {
      assertThat(counts.add(denied("topic " + i), 0)).hasSize(1);
    }
    assertThat(counts.add(denied("one more"), 0))
        .containsExactly(denied("first"), denied("one more"));
    assertThat(counts.due(TimeUnit.MINUTES.toNanos(1))).isEmpty();
    assertThat(counts.add(denied("first"), TimeUnit.MINUTES.toNanos(1))).hasSize(1);
  }
}
