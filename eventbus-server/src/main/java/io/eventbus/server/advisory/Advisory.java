package io.eventbus.server.advisory;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Event on a bus. The names of types and components are part of the protocol. */
public sealed interface Advisory {
  /** Returns the name of its type. */
  default String type() {
    return AdvisoryType.of(this).text();
  }

  /**
   * Returns the account of the clients that it is about, empty for the account of all that have
   * none; null if it is about no account's. An event of the bus about clients of an account is also
   * told to those of the account that observe it.
   */
  default @Nullable String account() {
    return null;
  }

  /** Returns whether it is published as an event of the bus, and not only in the audit log. */
  default boolean publishedAsEvent() {
    return AdvisoryType.of(this).isEvent();
  }

  /**
   * Returns whether it belongs into the audit log, because it names who did something, or was not
   * allowed to.
   */
  default boolean belongsToAudit() {
    return AdvisoryType.of(this).isAudited();
  }

  /** Returns whether a client can cause it as often as it likes. */
  default boolean causedByClient() {
    return AdvisoryType.of(this).isCausedByClient();
  }

  /**
   * A client was welcomed.
   *
   * @param account of the client; empty for the account of all that have none
   * @param subject its name in the account; empty if it has proved none
   */
  record ClientConnected(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String agent,
      String account,
      String subject,
      String method)
      implements Advisory {}

  /**
   * A client was refused, because its authentication failed.
   *
   * @param client name that the client gave in {@code Hello}; empty if it gave none
   * @param account of the client; empty if it is not known, or for none
   * @param subject its name in the account, which a signature or the users file vouches for; of a
   *     certificate that TLS refused the distinguished name in it, for which nothing vouches; empty
   *     if it is not known
   * @param reason what was wrong, as it goes on after "a client"; the client does not hear it
   */
  record ClientRefused(
      String remoteAddress, String client, String account, String subject, String reason)
      implements Advisory {}

  /**
   * A client is closed because its credentials have expired.
   *
   * @param account of the client; empty for the account of all that have none
   */
  record ClientExpired(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String account,
      String subject)
      implements Advisory {}

  /**
   * A client is closed because its credentials were revoked.
   *
   * @param account of the client; empty for the account of all that have none
   */
  record ClientRevoked(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String account,
      String subject)
      implements Advisory {}

  /**
   * A client's credentials are revoked, or not any more: as this bus hears it.
   *
   * @param account of the client; empty for the account of all that have none
   * @param issuedBefore credentials issued earlier are revoked (ISO 8601); empty if none are any
   *     more
   */
  record RevocationChanged(String account, String subject, String issuedBefore)
      implements Advisory {}

  /**
   * A file or a set of keys that decides who may connect, or what clients may do, has changed and
   * is used from now on.
   */
  record AccessChanged(String key, String summary) implements Advisory {}

  /**
   * A file that decides who may connect, or what clients may do, has changed and cannot be used:
   * what was in use stays.
   *
   * @param reason where it is wrong, and what was expected
   */
  record AccessRefused(String key, String reason) implements Advisory {}

  /**
   * A client tried an action that it may not do.
   *
   * @param subject its name in the account; empty if it has proved none
   * @param reason the rule and where it was written, or why none allows it
   */
  record PermissionDenied(
      String remoteAddress,
      String client,
      String account,
      String subject,
      String action,
      String name,
      String reason,
      long count)
      implements Advisory {
    /** Returns a copy with another count. */
    public PermissionDenied times(long times) {
      return new PermissionDenied(
          remoteAddress, client, account, subject, action, name, reason, times);
    }
  }

  /**
   * Clients have reached a quota. The first of an identity or account and a quota is reported at
   * once, then at most one in a minute.
   *
   * @param account of the clients; empty for those that have none
   * @param subject their name in the account, empty for those without one; null for all clients of
   *     the account
   * @param limit what they may use
   */
  record QuotaReached(
      String account,
      @Nullable String subject,
      boolean anonymous,
      String quota,
      long limit,
      long count)
      implements Advisory {}

  /**
   * A caller asked the administration port for more than reading, or was refused there.
   *
   * @param caller the user, or the key of the token; empty where no login is needed, or for one
   *     that has not
   * @param callerAccount account of the caller; empty for the default one, and where it has none
   * @param role what the caller may do, in lower case
   * @param target path and query, at most 512 characters
   * @param reason what was wrong with the credentials that the caller showed, and whose they would
   *     be, if that is known; empty if nothing was
   */
  record AdminAction(
      String caller,
      String callerAccount,
      String role,
      String remoteAddress,
      String method,
      String target,
      int status,
      String reason)
      implements Advisory {
    @Override
    public boolean causedByClient() {
      return status == 401 || status == 403 || role.equals("none");
    }
  }

  /**
   * A client that was welcomed has gone, or was closed.
   *
   * @param account of the client; empty for the account of all that have none
   */
  record ClientDisconnected(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String account,
      Instant connectedAt,
      long eventsReceived,
      long eventsSent)
      implements Advisory {}

  /** A client was asked to move to another bus. */
  record ChangeBegun(long connection, String to, String reason) implements Advisory {}

  /** Outcome of a client's move. */
  enum ChangeOutcome {
    /** The client moved. */
    MOVED,
    /** The client stays. */
    STAYED,
    /** The client did not move in time, and was closed. */
    EXPIRED
  }

  /** A client that was asked to move to another bus has moved, or stays. */
  record ChangeFinished(long connection, String to, ChangeOutcome outcome) implements Advisory {}

  /** This bus begins to move all of its clients to others, or takes clients again. */
  record DrainChanged(boolean draining) implements Advisory {}

  /** A connection is closed because memory is short. */
  record ConnectionEvicted(String connection, long heldBytes, String limit) implements Advisory {}

  /**
   * A peer is in another state, as this bus sees it.
   *
   * @param state its state now, null when it was removed from the cluster
   * @param before its state before
   */
  record BusStateChanged(String other, @Nullable String state, String before) implements Advisory {}

  /** The bus shows another certificate to connections that begin from now on. */
  record CertificateChanged(String use, String subject, Instant expiresAt) implements Advisory {}

  /** Files of TLS have changed and cannot be used: what was in use stays. */
  record CertificateRefused(String use, String reason) implements Advisory {}

  /** Change of a journal by an operator, or by a client of its account. */
  enum JournalChange {
    /** A new journal is there. */
    CREATED,
    /** The journal has another definition. */
    CHANGED,
    /** The oldest events were removed. */
    TRIMMED,
    /** Single events were removed. */
    PURGED,
    /** Dead events of a durable subscription are given out again. */
    REDRIVEN,
    /** Dead events of a durable subscription were taken from it. */
    DISCARDED,
    /** The journal is gone, with its events and durable subscriptions. */
    DELETED
  }

  /**
   * A journal was changed through this bus.
   *
   * @param account account of the journal; empty for the account of clients that have none
   * @param summary the definition, or which events it is about, for people
   */
  record JournalChanged(String account, String journal, JournalChange change, String summary)
      implements Advisory {}

  /**
   * A journal that drops no events is at a limit, so that this bus refuses events; or it has
   * refused none for a minute.
   *
   * @param account account of the journal; empty for the account of clients that have none
   * @param full whether it refuses events
   */
  record JournalFull(String account, String journal, boolean full) implements Advisory {}

  /**
   * Events of a journal cannot be read at this bus. The first of a journal is reported, until the
   * next start.
   *
   * @param account account of the journal; empty for the account of clients that have none
   */
  record JournalDamaged(String account, String journal, String reason) implements Advisory {}

  /**
   * A durable subscription has another consumer, which gets the events from now on.
   *
   * @param account account of the journal; empty for the account of clients that have none
   * @param connection number of its connection to this bus
   * @param epoch number that rises with each consumer of the journal
   */
  record ConsumerChanged(
      String account, String journal, String subscription, long connection, long epoch)
      implements Advisory {}

  /**
   * This bus leads the replicas of the journals, or does not any more; or it has not heard of a
   * leader for a while, and hears of one again.
   *
   * @param leader the bus that leads; null for none
   * @param before the leader before; null for none
   */
  record ShardLeaderChanged(int shard, @Nullable String leader, @Nullable String before, long term)
      implements Advisory {}

  /**
   * Other replicas of the journals vote or follow, as the bus that leads them sees it.
   *
   * @param voters replicas that vote: bus and number of its data directory, as {@code bus-1~2}
   * @param followers replicas that only follow
   */
  record ShardMembersChanged(int shard, List<String> voters, List<String> followers)
      implements Advisory {
    /** Copies the lists. */
    public ShardMembersChanged {
      voters = List.copyOf(voters);
      followers = List.copyOf(followers);
    }
  }

  /** Change of a replica of the journals. */
  enum ReplicaChange {
    /** Lack of many entries. */
    BEHIND,
    /** End of the lack of many entries. */
    CAUGHT_UP,
    /** Failure of the replica, which is opened anew. */
    FAILED,
    /** End of a failure: the replica is open. */
    OPENED,
    /** Begin of a copy of another replica's rows. */
    COPYING,
    /** Failure of the copy, which begins anew. */
    COPY_FAILED,
    /** End of the copy, which is complete. */
    COPIED
  }

  /**
   * A replica of the journals has changed: that of this bus, or as the bus that leads them sees it.
   *
   * @param replica the bus that has it
   * @param reason for people; empty for none
   */
  record ReplicaChanged(int shard, String replica, ReplicaChange change, String reason)
      implements Advisory {}
}
