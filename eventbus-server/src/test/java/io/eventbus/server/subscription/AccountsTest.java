package io.eventbus.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AccountsTest {
  private static final int MAX_ACCOUNTS = 2;

  private final SubscriptionIndex unnamed = new SubscriptionIndex(1);
  private final Accounts accounts = unnamed.accounts();

  private SubscriptionIndex enter(String account) {
    return Objects.requireNonNull(accounts.enter(account, MAX_ACCOUNTS));
  }

  private static RoutedSubscription subscription(String filter) {
    return new RoutedSubscription(
        new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.BLOCK);
  }

  @Test
  void anAccountIsThereAsLongAsItHasClientsOrOthersTellOfIt() {
    SubscriptionIndex first = enter("a");
    assertThat(enter("a")).isSameAs(first);
    assertThat(accounts.keep("a")).isSameAs(first);
    accounts.leave(first);
    accounts.leave(first);
    assertThat(accounts.find("a")).isSameAs(first);
    assertThat(accounts.served()).isZero();
    assertThat(accounts.list("", 9)).as("it has no clients here").isEmpty();
    accounts.release(first);
    assertThat(accounts.find("a")).isNull();
    assertThat(first.isDropped()).isTrue();
    assertThat(enter("a")).isNotSameAs(first);
  }

  @Test
  void clientsOfTooManyAccountsAreNotLetIn() {
    SubscriptionIndex told = accounts.keep("told");
    SubscriptionIndex a = enter("a");
    enter("b");
    assertThat(accounts.enter("c", MAX_ACCOUNTS)).isNull();
    assertThat(accounts.enter("told", MAX_ACCOUNTS)).as("others tell of it").isNull();
    assertThat(accounts.find("c")).as("nothing was made").isNull();
    assertThat(enter("")).as("the default account always").isSameAs(unnamed);
    assertThat(enter("b")).isNotNull();
    accounts.leave(a);
    assertThat(enter("told")).isSameAs(told);
    assertThat(accounts.served()).isEqualTo(MAX_ACCOUNTS);
  }

  @Test
  void accountsAreListedWithWhatTheyHave() {
    enter("b").add(subscription("t"));
    enter("b");
    enter("a");
    unnamed.add(subscription("t"));
    assertThat(accounts.list("", 9))
        .containsExactly(new Accounts.Figures("a", 1, 0), new Accounts.Figures("b", 2, 1));
    assertThat(accounts.list("a", 9)).extracting(Accounts.Figures::name).containsExactly("b");
    assertThat(accounts.list("", 1)).extracting(Accounts.Figures::name).containsExactly("a");
    assertThat(accounts.subscriptions()).isEqualTo(2);
    assertThat(unnamed.size()).isEqualTo(1);
  }

  @Test
  void everyAccountIsHeardOfWithItsName() {
    List<String> heard = new ArrayList<>();
    accounts.onLocalChange(new Listener("", heard));
    unnamed.add(subscription("t"));
    SubscriptionIndex a = enter("a");
    RoutedSubscription s = subscription("u");
    a.add(s);
    a.remove(s);
    assertThat(heard).containsExactly("+t", "a+u", "a-u");
  }

  private record Listener(String account, List<String> heard) implements LocalSubscriptions {
    @Override
    public LocalSubscriptions ofAccount(String other) {
      return new Listener(other, heard);
    }

    @Override
    public void added(RoutedSubscription s) {
      heard.add(account + "+" + s.filter());
    }

    @Override
    public void withdrawn(RoutedSubscription s) {
      heard.add(account + "?" + s.filter());
    }

    @Override
    public void removed(RoutedSubscription s) {
      heard.add(account + "-" + s.filter());
    }
  }

  @Test
  void anInvalidationHoldsInAllAccounts() {
    SubscriptionIndex a = enter("a");
    a.add(subscription("t"));
    TopicRoute known = Routes.lookup(a, "t");
    assertThat(a.isCurrent(known)).isTrue();
    accounts.invalidate();
    assertThat(a.isCurrent(known)).isFalse();
    a.forget(known);
    assertThat(unnamed.routeBytes()).isZero();
  }
}
