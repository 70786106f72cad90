package io.eventbus.server.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.config.AddressLimitsConfig;
import io.eventbus.server.stats.RefusalReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class AddressUsagesTest {
  private static final String HERE = "203.0.113.7";

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 3);

  private AddressUsages accounts(int connections, int handshakes, int perSecond, int percent) {
    return new AddressUsages(
        new AddressLimitsConfig(connections, handshakes, perSecond, percent),
        1000,
        200,
        40,
        100,
        new AuthenticationFailures(new RateLimitedLog(NOPLogger.NOP_LOGGER), now::get),
        now::get);
  }

  private static ConnectionUsage in(AddressUsages accounts, String address) {
    Admission verdict = accounts.admit(Ip.client(address), false);
    assertThat(verdict).isInstanceOf(Admission.Admitted.class);
    return ((Admission.Admitted) verdict).account();
  }

  private static Admission.Refused refused(AddressUsages accounts, String address) {
    Admission verdict = accounts.admit(Ip.client(address), false);
    assertThat(verdict).isInstanceOf(Admission.Refused.class);
    return (Admission.Refused) verdict;
  }

  @Test
  void anAddressHasSoManyConnectionsAndNoMore() {
    AddressUsages accounts = accounts(2, 0, 0, 100);
    ConnectionUsage first = in(accounts, HERE);
    in(accounts, HERE);
    assertThat(refused(accounts, HERE).reason()).isEqualTo(RefusalReason.ADDRESS_CONNECTIONS);
    assertThat(refused(accounts, HERE).message())
        .isEqualTo(
            "limits.address-connections: 203.0.113.7 has 2 connections (expected: at most 2)");
    in(accounts, "203.0.113.8");
    first.close();
    first.close();
    in(accounts, HERE);
    refused(accounts, HERE);
  }

  @Test
  void aNetworkOfV6IsOneAddress() {
    AddressUsages accounts = accounts(2, 0, 0, 100);
    in(accounts, "2001:db8::1");
    in(accounts, "2001:db8::2");
    assertThat(refused(accounts, "2001:db8::3").message()).contains("2001:db8::/64");
    in(accounts, "2001:db8:0:1::1");
  }

  @Test
  void aWelcomedConnectionIsNoHandshake() {
    AddressUsages accounts = accounts(0, 2, 0, 100);
    ConnectionUsage first = in(accounts, HERE);
    ConnectionUsage second = in(accounts, HERE);
    assertThat(refused(accounts, HERE).reason()).isEqualTo(RefusalReason.ADDRESS_HANDSHAKES);
    first.welcomed();
    first.welcomed();
    in(accounts, HERE);
    refused(accounts, HERE);
    first.close();
    refused(accounts, HERE);
    second.close();
    in(accounts, HERE);
    refused(accounts, HERE);
  }

  @Test
  void newConnectionsHaveARateOnTheAverageOfTenSeconds() {
    AddressUsages accounts = accounts(0, 0, 4, 100);
    for (int i = 0; i < 40; i++) {
      in(accounts, HERE).close();
    }
    assertThat(refused(accounts, HERE).reason()).isEqualTo(RefusalReason.ADDRESS_HANDSHAKE_RATE);
    in(accounts, "203.0.113.8");
    now.addAndGet(Duration.ofMillis(249).toNanos());
    refused(accounts, HERE);
    now.addAndGet(Duration.ofMillis(1).toNanos());
    in(accounts, HERE).close();
    refused(accounts, HERE);
    now.addAndGet(Duration.ofSeconds(100).toNanos());
    for (int i = 0; i < 40; i++) {
      in(accounts, HERE).close();
    }
    refused(accounts, HERE);
  }

  @Test
  void anAccountIsForgottenWhenItHasNothing() {
    AddressUsages accounts = accounts(10, 10, 2, 100);
    ConnectionUsage account = in(accounts, HERE);
    now.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(accounts.size()).isEqualTo(1);
    account.close();
    assertThat(accounts.size()).isZero();
    for (int i = 0; i < 20; i++) {
      in(accounts, HERE).close();
    }
    assertThat(accounts.size()).as("its rate is still to be held").isEqualTo(1);
    in(accounts, "203.0.113.8").close();
    assertThat(accounts.size()).isEqualTo(2);
    refused(accounts, HERE);
    now.addAndGet(Duration.ofSeconds(10).toNanos());
    in(accounts, "203.0.113.9");
    assertThat(accounts.size()).isEqualTo(1);
  }

  @Test
  void rememberedRatesAreBounded() {
    AddressUsages accounts = accounts(0, 0, 1, 100);
    for (int i = 0; i < AddressUsages.MAX_LINGERING + 10_000; i++) {
      in(accounts, "10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255)).close();
    }
    assertThat(accounts.size()).isLessThanOrEqualTo(AddressUsages.MAX_LINGERING + 1);
  }

  @Test
  void aShareOfWhatTheBusHolds() {
    AddressUsages accounts = accounts(0, 0, 0, 25);
    ConnectionUsage one = in(accounts, HERE);
    ConnectionUsage two = in(accounts, HERE);
    ConnectionUsage other = in(accounts, "203.0.113.8");
    one.held(200);
    two.held(50);
    assertThat(one.isOverShare()).isFalse();
    two.holds(51);
    assertThat(one.isOverShare()).isTrue();
    assertThat(two.isOverShare()).isTrue();
    assertThat(other.isOverShare()).isFalse();
    one.close();
    one.held(1000);
    assertThat(two.isOverShare()).isFalse();
  }

  @Test
  void aShareOfTheSubscriptions() {
    AddressUsages accounts = accounts(0, 0, 0, 25);
    ConnectionUsage one = in(accounts, HERE);
    ConnectionUsage two = in(accounts, HERE);
    assertThat(one.acquireSubscriptionBytes(30)).isTrue();
    assertThat(two.acquireSubscriptionBytes(21)).isFalse();
    assertThat(two.acquireSubscriptionBytes(20)).isTrue();
    assertThat(in(accounts, "203.0.113.8").acquireSubscriptionBytes(50)).isTrue();
    two.releaseSubscriptionBytes(20);
    assertThat(one.acquireSubscriptionBytes(20)).isTrue();
    one.close();
    one.releaseSubscriptionBytes(50);
    assertThat(two.acquireSubscriptionBytes(51)).isFalse();
    assertThat(two.acquireSubscriptionBytes(50)).isTrue();
  }

  @Test
  void aShareOfWhatOtherBusesAreToldOf() {
    AddressUsages accounts = accounts(0, 0, 0, 25);
    ConnectionUsage one = in(accounts, HERE);
    ConnectionUsage two = in(accounts, HERE);
    one.changeInterest(9);
    assertThat(two.isInterestFull()).isFalse();
    two.changeInterest(1);
    assertThat(one.isInterestFull()).isTrue();
    assertThat(two.isInterestFull()).isTrue();
    assertThat(in(accounts, "203.0.113.8").isInterestFull()).isFalse();
    one.close();
    assertThat(two.isInterestFull()).isFalse();
    one.changeInterest(-9);
    two.changeInterest(9);
    assertThat(two.isInterestFull()).isTrue();
  }

  @Test
  void exemptAddressesHaveNoLimits() {
    AddressUsages accounts = accounts(1, 1, 1, 1);
    for (int i = 0; i < 100; i++) {
      ConnectionUsage account = exempt(accounts, "127.0.0.1");
      account.held(1 << 30);
      assertThat(account.isOverShare()).isFalse();
      assertThat(account.acquireSubscriptionBytes(1 << 30)).isTrue();
      account.changeInterest(1 << 30);
      assertThat(account.isInterestFull()).isFalse();
      assertThat(account.isExempt()).isTrue();
    }
    assertThat(accounts.size()).isZero();
  }

  /** Otherwise a crowd of one address delays all others that are exempt. */
  @Test
  void exemptConnectionsShareTurnsWithTheirAddressOnly() {
    AddressUsages accounts = accounts(1, 1, 1, 1);
    Object turns = exempt(accounts, "127.0.0.1").shareOf();
    assertThat(exempt(accounts, "127.0.0.1").shareOf()).isEqualTo(turns);
    assertThat(exempt(accounts, "127.0.0.2").shareOf()).isNotEqualTo(turns);
  }

  private static ConnectionUsage exempt(AddressUsages accounts, String address) {
    Admission verdict = accounts.admit(Ip.client(address), true);
    return ((Admission.Admitted) verdict).account();
  }

  @Test
  void zeroIsNoLimit() {
    AddressUsages accounts = accounts(0, 0, 0, 100);
    for (int i = 0; i < 10_000; i++) {
      in(accounts, HERE);
    }
    assertThat(accounts.size()).isEqualTo(1);
  }

  @Test
  void manyThreadsLeaveNothingBehind() {
    AddressUsages accounts = accounts(100, 100, 0, 100);
    List<CompletableFuture<?>> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 20_000; i++) {
                  ConnectionUsage account = in(accounts, "203.0.113." + i % 3);
                  account.held(7);
                  if (i % 2 == 0) {
                    account.welcomed();
                  }
                  account.close();
                }
              },
              task -> new Thread(task, "client").start()));
    }
    threads.forEach(CompletableFuture::join);
    assertThat(accounts.size()).isZero();
  }
}
