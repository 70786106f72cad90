package io.eventbus.registry;

import java.util.Objects;

/** Command about the credentials of clients. */
public sealed interface RevocationCommand extends RegistryCommand {
  /** Version of buses that know these commands. */
  int NEEDED_PROTOCOL = 2;

  @Override
  default int neededProtocol() {
    return NEEDED_PROTOCOL;
  }

  /**
   * Revokes the credentials of a client that were issued before a time. If there is a revocation of
   * that client already, the later one of each time counts. The answer is {@link
   * CommandResult.SubjectRevoked}.
   *
   * @param who the client
   * @param issuedBeforeMillis credentials that were issued earlier are revoked: wall-clock time in
   *     milliseconds since the epoch
   * @param keepMillis the minimum time for which that is kept, in registry time: at least as long
   *     as the credentials may live; 1 ms to 31 days
   */
  record Revoke(AccountSubject who, long issuedBeforeMillis, long keepMillis)
      implements RevocationCommand {
    /** Maximum time for which a revocation is kept. */
    public static final long MAX_KEEP_MILLIS = 31L * 24 * 60 * 60 * 1_000;

    /**
     * Checks the values.
     *
     * @param who as above
     * @param issuedBeforeMillis as above
     * @param keepMillis as above
     * @throws IllegalArgumentException if a time is out of its range
     */
    public Revoke {
      Objects.requireNonNull(who, "who");
      RegistryChecks.range("issuedBeforeMillis", issuedBeforeMillis, 0, Long.MAX_VALUE);
      RegistryChecks.range("keepMillis", keepMillis, 1, MAX_KEEP_MILLIS);
    }

    @Override
    public int estimatedBytes() {
      return who.estimatedBytes();
    }
  }

  /**
   * Lifts a revocation. The answer is {@link CommandResult.RevocationLifted}.
   *
   * @param who the client
   */
  record Lift(AccountSubject who) implements RevocationCommand {
    /**
     * Takes the client.
     *
     * @param who as above
     */
    public Lift {
      Objects.requireNonNull(who, "who");
    }

    @Override
    public int estimatedBytes() {
      return who.estimatedBytes();
    }
  }

  /**
   * Removes all revocations whose time has come. The answer is {@link
   * CommandResult.RevocationsExpired}.
   */
  record Expire() implements RevocationCommand {
    @Override
    public int estimatedBytes() {
      return 256;
    }
  }
}
