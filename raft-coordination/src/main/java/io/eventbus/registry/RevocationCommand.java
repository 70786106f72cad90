package io.eventbus.registry;

import java.util.Objects;

/** A command about what clients proved who they are with. */
public sealed interface RevocationCommand extends RegistryCommand {
  /** Buses that speak less do not know these commands. */
  int NEEDED_PROTOCOL = 2;

  @Override
  default int neededProtocol() {
    return NEEDED_PROTOCOL;
  }

  /**
   * Revokes what was issued for a client before a time. Where there is a revocation of that client
   * already, the later one of each time counts. The answer is {@link CommandResult.SubjectRevoked}.
   *
   * @param who the client
   * @param issuedBeforeMillis what was issued earlier is revoked: wall-clock time in milliseconds
   *     since the epoch
   * @param keepMillis for how long that is kept at least, in registry time: at least as long as
   *     what was issued may live; 1 ms to 31 days
   */
  record Revoke(AccountSubject who, long issuedBeforeMillis, long keepMillis)
      implements RevocationCommand {
    /** The longest time for which a revocation is kept. */
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
   * Takes a revocation back. The answer is {@link CommandResult.RevocationLifted}.
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
   * Forgets all revocations whose time has come. The answer is {@link
   * CommandResult.RevocationsExpired}.
   */
  record Expire() implements RevocationCommand {
    @Override
    public int estimatedBytes() {
      return 256;
    }
  }
}
