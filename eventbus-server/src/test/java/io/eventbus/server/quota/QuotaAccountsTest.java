package io.eventbus.server.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QuotaAccountsTest {
  private static final long SECOND = 1_000_000_000;
  private static final long MAX_JITTER = 15_000_000;

  private final List<Advisory> told = new ArrayList<>();
  private final Advisories advisories = new Advisories();
  private long now = 5;
  private final QuotaAccounts accounts = new QuotaAccounts(advisories, () -> now);

  QuotaAccountsTest() {
    advisories.listen(told::add);
  }

  private static Quotas of(Quota quota, long limit) {
    return new Quotas(Map.of(quota, limit));
  }

  private static ClientQuotas each(Quota quota, long limit) {
    return new ClientQuotas(of(quota, limit), Quotas.NONE);
  }

  private static ClientQuotas all(Quota quota, long limit) {
    return new ClientQuotas(Quotas.NONE, of(quota, limit));
  }

  private static Principal who(String account, String subject, ClientQuotas quotas) {
    return new Principal(
        account, subject, AuthenticationMethod.JWT, Permissions.NONE, quotas, null, null);
  }

  private QuotaAccounts.Entry entry(String account, String subject, ClientQuotas quotas) {
    return accounts.enter(who(account, subject, quotas), false);
  }

  private ConnectionQuota enter(String account, String subject, ClientQuotas quotas) {
    QuotaAccounts.Entry entry = entry(account, subject, quotas);
    @Nullable ConnectionQuota share =
        entry instanceof QuotaAccounts.Entry.Open open ? open.share() : null;
    assertThat(share).as("%s", entry).isNotNull();
    return Objects.requireNonNull(share);
  }

  private static String refusal(QuotaAccounts.Entry entry) {
    assertThat(entry).isInstanceOf(QuotaAccounts.Entry.Full.class);
    return ((QuotaAccounts.Entry.Full) entry).message();
  }

  @Test
  void withoutQuotasNothingIsKept() {
    assertThat(entry("a", "u", ClientQuotas.NONE)).isEqualTo(new QuotaAccounts.Entry.Open(null));
    assertThat(entry("a", "u", each(Quota.CONNECTIONS, 0)))
        .isEqualTo(new QuotaAccounts.Entry.Open(null));
    assertThat(accounts.list(0, 10)).isEmpty();
  }

  @Test
  void connectionsOfAnIdentityAreBoundedAndThoseOfOthersAreNot() {
    ClientQuotas two = each(Quota.CONNECTIONS, 2);
    ConnectionQuota first = enter("acme", "u1", two);
    enter("acme", "u1", two);
    assertThat(refusal(entry("acme", "u1", two)))
        .isEqualTo(
            "the clients of 'u1' of account 'acme' have 2 connections to this bus (expected: at"
                + " most 2, quota connections); close those that are not needed, or ask whoever"
                + " runs the bus for more");
    enter("acme", "u2", two);
    enter("other", "u1", two);
    enter("", "u1", two);
    first.close();
    first.close();
    enter("acme", "u1", two);
    refusal(entry("acme", "u1", two));
    assertThat(accounts.refusals()).containsEntry("connections", 2L);
    assertThat(accounts.refusals()).containsEntry("account_connections", 0L);
  }

  @Test
  void clientsWithoutANameCountAsOneAndAnonymousOnesAsAnother() {
    ClientQuotas one = each(Quota.CONNECTIONS, 1);
    Principal anonymous =
        new Principal("", "", AuthenticationMethod.NONE, Permissions.NONE, one, null, null);
    enter("", "", one);
    assertThat(accounts.enter(anonymous, false)).isInstanceOf(QuotaAccounts.Entry.Open.class);
    assertThat(refusal(entry("", "", one)))
        .startsWith("the clients without a name without an account have 1 connections");
    assertThat(refusal(accounts.enter(anonymous, false)))
        .startsWith("all anonymous clients have 1 connections");
    assertThat(accounts.find("", "")).extracting(QuotaUse::anonymous).containsExactly(false, true);
  }

  @Test
  void connectionsOfAnAccountAreThoseOfAllItsClients() {
    ClientQuotas two = all(Quota.CONNECTIONS, 2);
    enter("acme", "u1", two);
    enter("acme", "u2", two);
    assertThat(refusal(entry("acme", "u3", two)))
        .startsWith("the clients of account 'acme' have 2 connections")
        .contains("quota of the account: connections");
    assertThat(accounts.find("acme", "u3")).as("nothing is left of it").isEmpty();
    enter("other", "u3", two);
  }

  @Test
  void anAccountDoesNotUseAnothersMemory() {
    ClientQuotas one =
        new ClientQuotas(
            Quotas.NONE,
            new Quotas(
                Map.of(
                    Quota.CONNECTIONS, 2L,
                    Quota.SUBSCRIPTIONS, 2L,
                    Quota.PUBLISH_EVENTS, 1L)));
    ConnectionQuota greedy = enter("acme", "u1", one);
    enter("acme", "u2", one);
    ConnectionQuota modest = enter("other", "u1", one);
    ConnectionQuota unnamed = enter("", "u1", one);
    refusal(entry("acme", "u3", one));
    for (int i = 0; i < 2; i++) {
      assertThat(greedy.acquireSubscription()).isNull();
    }
    assertThat(greedy.acquireSubscription()).contains("account 'acme'");
    greedy.published(1_000, 10, now);
    assertThat(greedy.publishWaitNanos(now)).isPositive();
    for (ConnectionQuota spared : List.of(modest, unnamed)) {
      assertThat(spared.acquireSubscription()).isNull();
      assertThat(spared.publishWaitNanos(now)).isZero();
    }
    enter("other", "u2", one);
    enter("", "u2", one);
    assertThat(accounts.find("other", null).get(0).subscriptions()).isEqualTo(1);
  }

  @Test
  void aReplacedConnectionNeedsNoRoom() {
    ClientQuotas one = each(Quota.CONNECTIONS, 1);
    ConnectionQuota before = enter("acme", "u1", one);
    assertThat(accounts.enter(who("acme", "u1", one), true))
        .isInstanceOf(QuotaAccounts.Entry.Open.class);
    assertThat(accounts.enter(who("acme", "u1", one), true))
        .as("while the first has not ended")
        .isInstanceOf(QuotaAccounts.Entry.Full.class);
    before.close();
    assertThat(accounts.enter(who("acme", "u1", one), true))
        .isInstanceOf(QuotaAccounts.Entry.Open.class);
  }

  @Test
  void subscriptionsAreBoundedTogetherAndGivenBack() {
    ClientQuotas three = new ClientQuotas(of(Quota.SUBSCRIPTIONS, 2), of(Quota.SUBSCRIPTIONS, 3));
    ConnectionQuota one = enter("acme", "u1", three);
    ConnectionQuota two = enter("acme", "u1", three);
    ConnectionQuota other = enter("acme", "u2", three);
    assertThat(one.acquireSubscription()).isNull();
    assertThat(two.acquireSubscription()).isNull();
    assertThat(two.acquireSubscription())
        .contains("the clients of 'u1' of account 'acme' have 2 subscriptions together")
        .contains("at most 2, quota subscriptions");
    assertThat(other.acquireSubscription()).isNull();
    assertThat(other.acquireSubscription())
        .contains("the clients of account 'acme' have 3 subscriptions")
        .contains("at most 3, quota of the account: subscriptions");
    one.releaseSubscription();
    one.releaseSubscription();
    assertThat(other.acquireSubscription()).isNull();
    other.close();
    assertThat(two.acquireSubscription()).isNull();
    two.close();
    one.close();
    assertThat(accounts.list(0, 10)).isEmpty();
  }

  @Test
  void publishingOverQuotaPausesAllConnectionsOfTheIdentity() {
    ClientQuotas hundred = each(Quota.PUBLISH_EVENTS, 100);
    ConnectionQuota one = enter("acme", "u1", hundred);
    ConnectionQuota two = enter("acme", "u1", hundred);
    ConnectionQuota other = enter("acme", "u2", hundred);
    assertThat(one.publishWaitNanos(now)).isZero();
    one.published(200, 1, now);
    for (ConnectionQuota waiting : List.of(one, two)) {
      assertThat(waiting.publishWaitNanos(now)).isBetween(SECOND, SECOND + MAX_JITTER + 1);
      assertThat(waiting.publishWaitNanos(now)).as("counted once").isPositive();
    }
    assertThat(other.publishWaitNanos(now)).isZero();
    assertThat(accounts.waits()).containsEntry("publish_events", 2L);
    now += SECOND + 1;
    assertThat(one.publishWaitNanos(now)).isZero();
  }

  @Test
  void bytesOfAnAccountCountWhoeverPublishes() {
    ClientQuotas kilo = all(Quota.PUBLISH_BYTES, 1024);
    ConnectionQuota one = enter("acme", "u1", kilo);
    ConnectionQuota two = enter("acme", "u2", kilo);
    one.published(1, 3 * 1024, now);
    assertThat(two.publishWaitNanos(now)).isBetween(2 * SECOND, 2 * SECOND + MAX_JITTER + 1);
    assertThat(accounts.waits()).containsEntry("account_publish_bytes", 1L);
  }

  @Test
  void requestsOverTheRateAreRefusedAndSayWhenToTryAgain() {
    ClientQuotas two = new ClientQuotas(of(Quota.REQUESTS, 10), of(Quota.REQUESTS, 15));
    ConnectionQuota one = enter("acme", "u1", two);
    ConnectionQuota other = enter("acme", "u2", two);
    for (int i = 0; i < 10; i++) {
      assertThat(one.acquireCall(now)).isNull();
    }
    ConnectionQuota.RefusedCall refused = one.acquireCall(now);
    assertThat(refused).isNotNull();
    assertThat(refused.message())
        .contains("the clients of 'u1' of account 'acme'")
        .contains("at most 10, quota requests");
    assertThat(refused.retryAfterMillis()).isBetween(1L, 101L);
    for (int i = 0; i < 5; i++) {
      assertThat(other.acquireCall(now)).isNull();
    }
    assertThat(other.acquireCall(now)).as("of the account").isNotNull();
    assertThat(accounts.refusals())
        .containsEntry("requests", 1L)
        .containsEntry("account_requests", 1L);
    now += refused.retryAfterMillis() * 1_000_000;
    assertThat(one.acquireCall(now)).isNull();
  }

  private String refusal(ConnectionQuota share) {
    return Objects.requireNonNull(share.acquireCall(now)).message();
  }

  @Test
  void callsInFlightAreBoundedTogetherAndGivenBack() {
    ClientQuotas three = new ClientQuotas(of(Quota.CALLS, 2), of(Quota.CALLS, 3));
    ConnectionQuota one = enter("acme", "u1", three);
    ConnectionQuota two = enter("acme", "u1", three);
    ConnectionQuota other = enter("acme", "u2", three);
    assertThat(one.acquireCall(now)).isNull();
    one.callsInFlight(1);
    assertThat(two.acquireCall(now)).isNull();
    assertThat(refusal(two)).contains("2 calls in flight").contains("at most 2, quota calls");
    assertThat(other.acquireCall(now)).isNull();
    assertThat(refusal(other)).contains("at most 3, quota of the account: calls");
    two.callsInFlight(0);
    assertThat(accounts.find("acme", "u1").get(0).used(Quota.CALLS)).isEqualTo(1);
    assertThat(other.acquireCall(now)).isNull();
    other.close();
    other.callsInFlight(0);
    one.close();
    two.close();
    now += SECOND + 1;
    enter("other", "u9", three).close();
    assertThat(accounts.list(0, 10)).isEmpty();
  }

  @Test
  void reconnectingWinsNothing() {
    ClientQuotas ten = each(Quota.PUBLISH_EVENTS, 10);
    ConnectionQuota one = enter("acme", "u1", ten);
    one.published(100, 1, now);
    one.close();
    ConnectionQuota again = enter("acme", "u1", ten);
    assertThat(again.publishWaitNanos(now)).isPositive();
    again.close();
    assertThat(accounts.find("acme", "u1")).hasSize(1);
    now += 10 * SECOND + 1;
    enter("other", "u9", ten).close();
    assertThat(accounts.list(0, 10)).as("forgotten when it is paid").isEmpty();
  }

  @Test
  void queuesAreCutToTheirPartWhileThereIsTooMuch() {
    long mega = 1 << 20;
    ClientQuotas two = each(Quota.QUEUE_BYTES, 2 * mega);
    ConnectionQuota one = enter("acme", "u1", two);
    ConnectionQuota other = enter("acme", "u1", two);
    assertThat(one.queueBound(8 * mega)).isEqualTo(8 * mega);
    one.holds(3 * mega);
    assertThat(one.queueBound(8 * mega)).isEqualTo(mega);
    assertThat(other.queueBound(8 * mega)).isEqualTo(mega);
    assertThat(accounts.waits()).containsEntry("queue_bytes", 2L);
    one.holds(mega);
    assertThat(other.queueBound(8 * mega)).isEqualTo(8 * mega);
    one.holds(3 * mega);
    one.close();
    one.holds(5 * mega);
    assertThat(other.queueBound(8 * mega)).as("what is closed counts no more").isEqualTo(8 * mega);
    other.holds(100);
    assertThat(accounts.find("acme", "u1").get(0).queueBytes()).isZero();
  }

  @Test
  void aPartIsNeverNothing() {
    ClientQuotas small = all(Quota.QUEUE_BYTES, 1);
    ConnectionQuota one = enter("acme", "u1", small);
    enter("acme", "u2", small);
    one.holds(1 << 20);
    assertThat(one.queueBound(8 << 20)).isEqualTo(QuotaHolder.MIN_QUEUE_BYTES);
  }

  @Test
  void theLatestLimitsHoldForAll() {
    ConnectionQuota one = enter("acme", "u1", each(Quota.SUBSCRIPTIONS, 1));
    ConnectionQuota two = enter("acme", "u1", each(Quota.SUBSCRIPTIONS, 1));
    assertThat(one.acquireSubscription()).isNull();
    assertThat(one.acquireSubscription()).isNotNull();
    two.renew(each(Quota.SUBSCRIPTIONS, 2));
    assertThat(one.acquireSubscription()).isNull();
    two.renew(each(Quota.SUBSCRIPTIONS, 1));
    one.releaseSubscription();
    assertThat(one.acquireSubscription()).as("no room, and nothing ended").isNotNull();
    ConnectionQuota late = accounts.join(who("acme", "u1", each(Quota.CONNECTIONS, 1)));
    late.hasSubscriptions(4);
    QuotaUse use = accounts.find("acme", "u1").get(0);
    assertThat(use.connections()).isEqualTo(3);
    assertThat(use.subscriptions()).isEqualTo(5);
  }

  @Test
  void theFirstIsToldAndThenOneInAMinute() {
    ClientQuotas one = each(Quota.CONNECTIONS, 1);
    enter("acme", "u1", one);
    for (int i = 0; i < 5; i++) {
      entry("acme", "u1", one);
    }
    assertThat(told)
        .containsExactly(new Advisory.QuotaReached("acme", "u1", false, "connections", 1, 1));
    now += 60 * SECOND;
    entry("acme", "u1", one);
    assertThat(told).hasSize(2);
    assertThat(told.get(1))
        .isEqualTo(new Advisory.QuotaReached("acme", "u1", false, "connections", 1, 5));
    enter("acme", "u1", all(Quota.SUBSCRIPTIONS, 1));
    assertThat(told).as("the limit is gone").hasSize(2);
  }

  @Test
  void allAreListedInTheirOrder() {
    ClientQuotas ten = each(Quota.CONNECTIONS, 10);
    enter("acme", "u1", ten);
    enter("acme", "u2", ten);
    List<QuotaUse> all = accounts.list(0, 10);
    assertThat(all).extracting(QuotaUse::subject).containsExactly("u1", null, "u2");
    assertThat(all).extracting(QuotaUse::connections).containsExactly(1, 2, 1);
    assertThat(accounts.list(all.get(0).number(), 1))
        .extracting(QuotaUse::subject)
        .containsExactly((String) null);
    assertThat(accounts.find("acme", null).get(0).limits()).isEqualTo(Quotas.NONE);
    assertThat(accounts.find("acme", "u2").get(0).limits()).isEqualTo(of(Quota.CONNECTIONS, 10));
    assertThat(accounts.find("none", null)).isEmpty();
  }
}
