package io.eventbus.server.security.users;

import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Users with passwords.
 *
 * <p>A check takes tenths of a second of a processor on purpose, so only two run at a time, on
 * threads of their own, and a bounded number waits. A user who is not in the file costs as much as
 * one who is: otherwise the time would tell which names there are.
 */
public final class PasswordLogin implements LoginMethod, AutoCloseable {
  private static final int AT_A_TIME = 2;
  private static final int MOST_WAITING = 64;

  private static final LoginOutcome WRONG =
      new LoginOutcome.Wrong("showed a user and a password that do not belong together");
  private static final LoginOutcome BUSY =
      new LoginOutcome.Unavailable("more than " + MOST_WAITING + " passwords wait to be checked");

  private final Users users;
  private final CheckedPasswords checked;
  private final ThreadPoolExecutor threads;

  /**
   * Makes the method.
   *
   * @param users who there is
   */
  public PasswordLogin(Users users) {
    this(users, System::nanoTime);
  }

  PasswordLogin(Users users, LongSupplier nanoTime) {
    this.users = users;
    this.checked = new CheckedPasswords(nanoTime);
    this.threads =
        new ThreadPoolExecutor(
            AT_A_TIME,
            AT_A_TIME,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(MOST_WAITING),
            task -> {
              Thread thread = new Thread(task, "eventbus-passwords");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  @Override
  public boolean takes(Credentials credentials) {
    return credentials.user() != null;
  }

  // What comes of the answer is the caller's.
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
    CompletableFuture<LoginOutcome> answer = new CompletableFuture<>();
    Runnable task =
        () -> {
          // Nobody waits for it any more where it is done.
          if (!answer.isDone()) {
            try {
              answer.complete(judge(now, user, password));
            } catch (RuntimeException | Error e) {
              answer.completeExceptionally(e);
            }
          }
        };
    try {
      threads.execute(task);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedFuture(BUSY);
    }
    answer.whenComplete((outcome, failure) -> threads.remove(task));
    return answer;
  }

  private LoginOutcome judge(UsersFile file, @Nullable User user, String password) {
    PasswordHash own = user == null ? null : user.hash();
    PasswordHash hash = own == null ? file.decoy() : own;
    boolean matches = hash != null && hash.matches(password);
    if (user == null || own == null || !matches) {
      return WRONG;
    }
    checked.add(own, user.name(), password);
    // The hash took its time: whoever was taken out of the file meanwhile is not let in.
    User still = users.current().find(user.name());
    return still != null && still.hash() != null && own.text().equals(still.hash().text())
        ? proved(still)
        : WRONG;
  }

  private static LoginOutcome proved(User user) {
    return new LoginOutcome.Proved(user.identity(AuthenticationMethod.PASSWORD));
  }

  /** How many wait for a thread. */
  int waiting() {
    return threads.getQueue().size();
  }

  /** Ends the threads; nothing is checked any more. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
