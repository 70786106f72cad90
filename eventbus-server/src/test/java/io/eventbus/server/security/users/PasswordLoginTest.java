package io.eventbus.server.security.users;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PasswordLoginTest {
  private static final PasswordHash HASH = PasswordHash.of("s3cret", new SecureRandom(), 16, 1);

  private final AtomicLong now = new AtomicLong();
  private final CountDownLatch released = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(2);
  private final List<CompletableFuture<LoginOutcome>> busy = new ArrayList<>();
  private final List<Runnable> delayed = new ArrayList<>();
  private volatile boolean holds;
  private Path file;
  private Users users;
  private PasswordLogin login;

  @BeforeEach
  void make(@TempDir Path directory) throws IOException {
    file = directory.resolve("users");
    write("alice:" + HASH.text() + ":acme:trader\ncertified:*:acme:\n", 1);
    users = new Users(file);
    login = new PasswordLogin(users, 2, this::nanoTime, delayed::add);
  }

  @AfterEach
  void close() {
    released.countDown();
    login.close();
  }

  private void write(String text, int second) throws IOException {
    Files.writeString(file, text);
    Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(second)));
  }

  /** Returns the time, which is read to remember a right password: there a thread can be held. */
  private long nanoTime() {
    if (holds && Thread.currentThread().getName().equals("eventbus-passwords")) {
      held.countDown();
      try {
        assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return now.get();
  }

  private CompletableFuture<LoginOutcome> ask(String user, @Nullable String password) {
    Credentials credentials = new Credentials(user, password, null, "a", false);
    assertThat(login.takes(credentials)).isTrue();
    return login.check(credentials);
  }

  private void wrong(String user, @Nullable String password) {
    assertThat(ask(user, password).join()).isInstanceOf(LoginOutcome.Wrong.class);
  }

  private FailedLogin failed(String user, String password) {
    return ((LoginOutcome.Wrong) ask(user, password).join()).why();
  }

  @Test
  void takesOnlyWhoNamesAUser() {
    assertThat(login.takes(new Credentials("s3cret", "a", true))).isFalse();
  }

  @Test
  void theRightPasswordProvesTheUserOfTheFile() {
    LoginOutcome outcome = ask("alice", "s3cret").join();
    assertThat(outcome).isInstanceOf(LoginOutcome.Proved.class);
    Identity identity = ((LoginOutcome.Proved) outcome).identity();
    assertThat(identity.subject()).isEqualTo("alice");
    assertThat(identity.account()).isEqualTo("acme");
    assertThat(identity.roles()).containsExactly("trader");
    assertThat(identity.expiresAt()).isNull();
  }

  @Test
  void errorsNameOnlyUsersOfTheFile() {
    wrong("alice", "S3cret");
    wrong("alice", "");
    wrong("bob", "s3cret");
    wrong("certified", "*");
    wrong("alice", null);
    assertThat(failed("alice", "wrong"))
        .isEqualTo(new FailedLogin("showed a wrong password", "acme", "alice"));
    assertThat(failed("certified", "x"))
        .isEqualTo(new FailedLogin("showed a user that has no password", "acme", "certified"));
    // People type passwords in place of names.
    assertThat(failed("bob", "wrong"))
        .isEqualTo(new FailedLogin("showed a user that is not in the users file"));
  }

  /** The time would reveal the names otherwise. */
  @Test
  void anUnknownUserIsNotAnsweredAtOnce() {
    holds = true;
    List<CompletableFuture<LoginOutcome>> busy =
        List.of(ask("alice", "s3cret"), ask("alice", "s3cret"));
    CompletableFuture<LoginOutcome> unknown = ask("bob", "s3cret");
    assertThat(unknown).as("it waits for a thread as a user does").isNotDone();
    released.countDown();
    busy.forEach(CompletableFuture::join);
    assertThat(unknown.join()).isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void aBoundedNumberWaitsAndOthersHearThatItCannotBeFoundOutNow() throws Exception {
    holds = true;
    List<CompletableFuture<LoginOutcome>> all = new ArrayList<>();
    all.add(ask("alice", "s3cret"));
    all.add(ask("alice", "s3cret"));
    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 64; i++) {
      all.add(ask("bob", "guess" + i));
    }
    assertThat(login.waiting()).isEqualTo(64);
    assertThat(ask("bob", "guess").getNow(null)).isInstanceOf(LoginOutcome.Unavailable.class);
    all.get(10).cancel(false);
    assertThat(login.waiting()).as("who has gone waits no longer").isEqualTo(63);
    released.countDown();
    all.remove(10);
    all.forEach(CompletableFuture::join);
    assertThat(login.waiting()).isZero();
  }

  /** Occupies both threads until they are released. */
  private void occupy() throws InterruptedException {
    holds = true;
    busy.add(ask("alice", "s3cret"));
    busy.add(ask("alice", "s3cret"));
    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private CompletableFuture<LoginOutcome> askFrom(String address, boolean failsOften, String word) {
    return login.check(
        new Credentials("bob", word, null, "a", false, new Origin(address, failsOften)));
  }

  @Test
  void anAddressDoesNotTakeAllPlaces() throws Exception {
    occupy();
    List<CompletableFuture<LoginOutcome>> all = new ArrayList<>();
    for (int i = 0; i < PasswordLogin.MAX_OF_ADDRESS; i++) {
      all.add(askFrom("a", false, "guess"));
    }
    assertThat(askFrom("a", false, "guess").getNow(null))
        .isInstanceOf(LoginOutcome.Unavailable.class);
    all.add(askFrom("b", false, "guess"));
    assertThat(login.waiting()).isEqualTo(PasswordLogin.MAX_OF_ADDRESS + 1);
    all.remove(0).cancel(false);
    all.add(askFrom("a", false, "guess"));
    assertThat(login.waiting()).isEqualTo(PasswordLogin.MAX_OF_ADDRESS + 1);
    released.countDown();
    all.forEach(one -> assertThat(one.join()).isInstanceOf(LoginOutcome.Wrong.class));
  }

  @Test
  void addressesWithManyFailuresWait() {
    List<CompletableFuture<LoginOutcome>> all = new ArrayList<>();
    for (int i = 0; i < PasswordLogin.MAX_OF_ADDRESS; i++) {
      all.add(askFrom("a", true, "guess"));
    }
    assertThat(delayed).hasSize(PasswordLogin.MAX_OF_ADDRESS);
    all.get(0).cancel(false);
    assertThat(askFrom("a", true, "guess").getNow(null))
        .as("who goes and comes again is not quicker")
        .isInstanceOf(LoginOutcome.Unavailable.class);
    assertThat(all.get(1)).isNotDone();
    assertThat(ask("alice", "s3cret").join()).isInstanceOf(LoginOutcome.Proved.class);
    delayed.forEach(Runnable::run);
    all.remove(0);
    all.forEach(one -> assertThat(one.join()).isInstanceOf(LoginOutcome.Wrong.class));
    assertThat(login.addresses()).isZero();
  }

  @Test
  void operatorsHaveAQueueOfTheirOwn() throws Exception {
    occupy();
    for (int i = 0; i < 64; i++) {
      busy.add(ask("bob", "guess" + i));
    }
    assertThat(ask("bob", "guess").getNow(null)).isInstanceOf(LoginOutcome.Unavailable.class);
    try (PasswordLogin operators = PasswordLogin.forOperators(users)) {
      assertThat(operators.check(new Credentials("alice", "s3cret", null, "", false)).join())
          .isInstanceOf(LoginOutcome.Proved.class);
    }
  }

  @Test
  void aRightPasswordIsRememberedForFiveMinutes() {
    ask("alice", "s3cret").join();
    assertThat(ask("alice", "s3cret")).isDone();
    now.addAndGet(CheckedPasswords.LIFE.toNanos() - 1);
    assertThat(ask("alice", "s3cret")).isDone();
    wrong("alice", "other");
    CheckedPasswords checked = new CheckedPasswords(now::get);
    checked.add(HASH, "alice", "s3cret");
    now.addAndGet(CheckedPasswords.LIFE.toNanos());
    assertThat(checked.contains(HASH, "alice", "s3cret")).isFalse();
  }

  @Test
  void aPasswordThatWasChangedIsNotRightAnyMore() throws Exception {
    ask("alice", "s3cret").join();
    write("alice:" + PasswordHash.of("other", new SecureRandom(), 16, 1).text() + ":acme:\n", 2);
    users.refresh();
    wrong("alice", "s3cret");
    write("bob:" + HASH.text() + "::\n", 3);
    users.refresh();
    wrong("alice", "s3cret");
  }

  @Test
  void aUserWhoIsTakenOutWhileThePasswordIsCheckedIsNotLetIn() throws Exception {
    holds = true;
    CompletableFuture<LoginOutcome> under = ask("alice", "s3cret");
    CompletableFuture<LoginOutcome> way = ask("alice", "s3cret");
    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
    write("bob:" + HASH.text() + "::\n", 2);
    users.refresh();
    released.countDown();
    assertThat(under.join()).isInstanceOf(LoginOutcome.Wrong.class);
    assertThat(way.join()).isInstanceOf(LoginOutcome.Wrong.class);
  }

  @Test
  void aChangeOfOtherUsersDoesNotDisturb() throws Exception {
    holds = true;
    CompletableFuture<LoginOutcome> under = ask("alice", "s3cret");
    CompletableFuture<LoginOutcome> way = ask("alice", "s3cret");
    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
    write("alice:" + HASH.text() + ":acme:\nbob:" + HASH.text() + "::\n", 2);
    users.refresh();
    released.countDown();
    assertThat(under.join()).isInstanceOf(LoginOutcome.Proved.class);
    assertThat(way.join()).isInstanceOf(LoginOutcome.Proved.class);
  }

  @Test
  void onlySoManyAreRemembered() {
    CheckedPasswords checked = new CheckedPasswords(now::get);
    for (int i = 0; i <= CheckedPasswords.MAX_PASSWORDS; i++) {
      checked.add(HASH, "u" + i, "p");
    }
    assertThat(checked.contains(HASH, "u0", "p")).isFalse();
    assertThat(checked.contains(HASH, "u1", "p")).isTrue();
    assertThat(checked.contains(HASH, "u1", "q")).isFalse();
  }
}
