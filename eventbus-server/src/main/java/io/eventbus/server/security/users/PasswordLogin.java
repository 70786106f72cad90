package io.eventbus.server.security.users;

import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.Origin.Standing;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Login of users with passwords.
 *
 * <p>A check takes tenths of a second of a processor on purpose, so only two run at a time, on
 * threads of their own, and a bounded number waits, of which few are of one address. An address
 * with many failures waits before anything is computed for it, and lets those of better standing go
 * first. A user who is not in the file costs as much as one who is: otherwise the time would reveal
 * the names.
 */
public final class PasswordLogin implements LoginMethod, AutoCloseable {
  private static final int AT_A_TIME = 2;

  /** Maximum of checks of one address that wait or run: less than others can wait behind. */
  static final int MAX_OF_ADDRESS = 4;

  static final Duration DELAY = Duration.ofSeconds(1);

  private static final LoginOutcome NO_USER =
      new LoginOutcome.Wrong("showed a user that is not in the users file");
  private static final LoginOutcome BUSY =
      new LoginOutcome.Unavailable(
          "more than " + PasswordQueue.MAX_WAITING + " passwords wait to be checked");

  private static final LoginOutcome ADDRESS_BUSY =
      new LoginOutcome.Unavailable(
          MAX_OF_ADDRESS + " passwords of one address wait to be checked, as many as may");

  private final Users users;
  private final CheckedPasswords checked;
  private final Executor afterDelay;
  private final PasswordQueue queue;

  /** Number of checks of each address that wait or run; only addresses with some. */
  private final ConcurrentHashMap<Object, Integer> ofAddress = new ConcurrentHashMap<>();

  /** Creates the method. */
  public PasswordLogin(Users users) {
    this(users, AT_A_TIME, System::nanoTime, delayed());
  }

  /**
   * Creates the method with a thread and a queue of its own, so that operators can log in whatever
   * clients do.
   */
  public static PasswordLogin forOperators(Users users) {
    return new PasswordLogin(users, 1, System::nanoTime, delayed());
  }

  private static Executor delayed() {
    return CompletableFuture.delayedExecutor(
        DELAY.toMillis(), TimeUnit.MILLISECONDS, Runnable::run);
  }

  PasswordLogin(Users users, int atATime, LongSupplier nanoTime, Executor afterDelay) {
    this.afterDelay = afterDelay;
    this.users = users;
    this.checked = new CheckedPasswords(nanoTime);
    this.queue = new PasswordQueue(atATime);
  }

  @Override
  public boolean takes(Credentials credentials) {
    return credentials.user() != null;
  }

  // Errors of the answer are the caller's.
  @SuppressWarnings("FutureReturnValueIgnored")
  @Override
  public CompletableFuture<LoginOutcome> check(Credentials credentials) {
    String name = credentials.user();
    String password = credentials.token();
    if (name == null || password == null) {
      return CompletableFuture.completedFuture(
          new LoginOutcome.Wrong("showed a user without a password"));
    }
    UsersFile now = users.current();
    User user = now.find(name);
    if (user != null && user.hash() != null && checked.contains(user.hash(), name, password)) {
      return CompletableFuture.completedFuture(proved(user));
    }
    Origin origin = credentials.origin();
    Object address = origin == null ? null : origin.address();
    Standing standing = origin == null ? Standing.UNKNOWN : origin.standing();
    if (!tryAcquire(address)) {
      return CompletableFuture.completedFuture(ADDRESS_BUSY);
    }
    CompletableFuture<LoginOutcome> answer = new CompletableFuture<>();
    Runnable task =
        () -> {
          try {
            LoginOutcome outcome;
            try {
              // Nobody waits for it any more where it is done.
              outcome = answer.isDone() ? BUSY : judge(now, name, user, password);
            } finally {
              // Before the answer: who has it may ask again.
              release(address);
            }
            answer.complete(outcome);
          } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
          }
        };
    if (origin != null && origin.failsOften()) {
      // The check keeps its place even if the client goes: otherwise reconnecting would be quicker.
      afterDelay.execute(() -> begin(standing, task, answer, address));
    } else {
      begin(standing, task, answer, address);
    }
    return answer;
  }

  @SuppressWarnings("FutureReturnValueIgnored")
  private void begin(
      Standing standing,
      Runnable task,
      CompletableFuture<LoginOutcome> answer,
      @Nullable Object address) {
    if (answer.isDone()) {
      release(address);
      return;
    }
    if (!queue.add(standing, task)) {
      release(address);
      answer.complete(BUSY);
      return;
    }
    answer.whenComplete(
        (outcome, failure) -> {
          // A check that has begun releases its place when it ends.
          if (queue.remove(standing, task)) {
            release(address);
          }
        });
  }

  private boolean tryAcquire(@Nullable Object address) {
    if (address == null) {
      return true;
    }
    boolean[] taken = new boolean[1];
    ofAddress.compute(
        address,
        (key, known) -> {
          int count = known == null ? 0 : known;
          taken[0] = count < MAX_OF_ADDRESS;
          return taken[0] ? count + 1 : count;
        });
    return taken[0];
  }

  private void release(@Nullable Object address) {
    if (address != null) {
      ofAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
    }
  }

  /** Returns the number of addresses with checks that wait or run. */
  int addresses() {
    return ofAddress.size();
  }

  private LoginOutcome judge(UsersFile file, String name, @Nullable User user, String password) {
    PasswordHash own = user == null ? null : user.hash();
    PasswordHash hash = own == null ? file.decoy(name) : own;
    boolean matches = hash != null && hash.matches(password);
    if (user == null) {
      // Its name is not told: it may be a password in the wrong place.
      return NO_USER;
    }
    if (own == null || !matches) {
      return wrong(user, own == null ? "a user that has no password" : "a wrong password");
    }
    checked.add(own, user.name(), password);
    // The hash took its time: a user removed from the file meanwhile is not admitted.
    User still = users.current().find(user.name());
    return still != null && still.hash() != null && own.text().equals(still.hash().text())
        ? proved(still)
        : wrong(user, "the password of a user that has just changed");
  }

  private static LoginOutcome wrong(User user, String what) {
    return new LoginOutcome.Wrong(new FailedLogin("showed " + what, user.account(), user.name()));
  }

  private static LoginOutcome proved(User user) {
    return new LoginOutcome.Proved(user.identity(AuthenticationMethod.PASSWORD));
  }

  /** Returns the number of checks that wait for a thread. */
  int waiting() {
    return queue.size();
  }

  /** Ends the threads; nothing is checked any more. */
  @Override
  public void close() {
    queue.close();
  }
}
