package io.eventbus.server.advisory;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Something that has happened. The names of types and components are part of the protocol. */
public sealed interface Advisory {
  /** Returns what kind it is. */
  String type();

  /**
   * Says whose clients it is about: an event of the bus about clients of an account is also told to
   * those of the account that watch them.
   *
   * @return empty for the account of all that have none; null where it is about no account's
   */
  default @Nullable String account() {
    return null;
  }

  /**
   * Says whether it is an event of the bus, for those who watch it run.
   *
   * @return false for what only the audit log has
   */
  default boolean publishedAsEvent() {
    return true;
  }

  /**
   * Says whether it belongs into the audit log.
   *
   * @return true for what says who did what, or was not let
   */
  default boolean belongsToAudit() {
    return false;
  }

  /** Says whether a client can cause it as often as it likes. */
  default boolean causedByClient() {
    return false;
  }

  /**
   * A client was welcomed.
   *
   * @param account whose client it is; empty for the account of all that have none
   * @param subject its name in the account; empty where it has proved none
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
      implements Advisory {
    @Override
    public String type() {
      return "client_connected";
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /**
   * A client was not let in, because it did not prove who it is.
   *
   * @param client name that the client gave in {@code Hello}; empty where it gave none
   * @param account whose client it would have been; empty where that is not known, or for none
   * @param subject its name in the account, which a signature or the users file vouches for; of a
   *     certificate that TLS refused the distinguished name in it, for which nothing vouches; empty
   *     where it is not known
   * @param reason what was wrong, as it goes on after "a client"; the client does not hear it
   */
  record ClientRefused(
      String remoteAddress, String client, String account, String subject, String reason)
      implements Advisory {
    @Override
    public String type() {
      return "client_refused";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /**
   * A client is closed because what it proved who it is with has expired.
   *
   * @param account whose client it is; empty for the account of all that have none
   */
  record ClientExpired(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String account,
      String subject)
      implements Advisory {
    @Override
    public String type() {
      return "client_expired";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /**
   * A client is closed because what it proved who it is with was revoked.
   *
   * @param account whose client it is; empty for the account of all that have none
   */
  record ClientRevoked(
      long connection,
      String remoteAddress,
      String session,
      String client,
      String account,
      String subject)
      implements Advisory {
    @Override
    public String type() {
      return "client_revoked";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /**
   * What was issued for a client is revoked, or not any more: as this bus hears it.
   *
   * @param account whose client it is; empty for the account of all that have none
   * @param issuedBefore what was issued earlier is revoked (ISO 8601); empty where nothing is any
   *     more
   */
  record RevocationChanged(String account, String subject, String issuedBefore)
      implements Advisory {
    @Override
    public String type() {
      return "revocation_changed";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }
  }

  /**
   * A file or a set of keys that says who may come in, or what clients may do, has changed and is
   * used from now on.
   */
  record AccessChanged(String key, String summary) implements Advisory {
    @Override
    public String type() {
      return "access_changed";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }
  }

  /**
   * A file that says who may come in, or what clients may do, has changed and cannot be used: what
   * was in use stays.
   *
   * @param reason where it is wrong, and what was expected
   */
  record AccessRefused(String key, String reason) implements Advisory {
    @Override
    public String type() {
      return "access_refused";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }
  }

  /**
   * A client wanted to do what it may not.
   *
   * @param subject its name in the account; empty where it has proved none
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
    @Override
    public String type() {
      return "permission_denied";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }

    /** Returns a copy with another count. */
    public PermissionDenied times(long times) {
      return new PermissionDenied(
          remoteAddress, client, account, subject, action, name, reason, times);
    }
  }

  /**
   * Clients use as much of the bus as they may together. The first of an identity or account and a
   * quota is told at once, then at most one in a minute.
   *
   * @param account whose clients they are; empty for those that have none
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
      implements Advisory {
    @Override
    public String type() {
      return "quota_reached";
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /**
   * Somebody asked the administration port for more than a look, or was refused there.
   *
   * @param caller who: the user, or the key of the token; empty where nobody has to log in, or for
   *     one that has not
   * @param role what the caller may do, in lower case
   * @param target path and query, at most 512 characters
   * @param reason what was wrong with the credentials that the caller showed, and whose they would
   *     be, where that is known; empty where nothing was
   */
  record AdminAction(
      String caller,
      String role,
      String remoteAddress,
      String method,
      String target,
      int status,
      String reason)
      implements Advisory {
    @Override
    public String type() {
      return "admin_action";
    }

    @Override
    public boolean publishedAsEvent() {
      return false;
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return status == 401 || status == 403;
    }
  }

  /**
   * A client that was welcomed has gone, or was closed.
   *
   * @param account whose client it is; empty for the account of all that have none
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
      implements Advisory {
    @Override
    public String type() {
      return "client_disconnected";
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }

    @Override
    public boolean causedByClient() {
      return true;
    }
  }

  /** A client was asked to go on at another bus. */
  record ChangeBegun(long connection, String to, String reason) implements Advisory {
    @Override
    public String type() {
      return "change_begun";
    }
  }

  /** What became of a client that was asked to go on at another bus. */
  enum ChangeOutcome {
    /** It went. */
    MOVED,
    /** It stays. */
    STAYED,
    /** It did not go in time, and was closed. */
    EXPIRED
  }

  /** A client that was asked to go on at another bus has gone, or stays. */
  record ChangeFinished(long connection, String to, ChangeOutcome outcome) implements Advisory {
    @Override
    public String type() {
      return "change_finished";
    }
  }

  /** This bus begins to move all of its clients to others, or takes clients again. */
  record DrainChanged(boolean draining) implements Advisory {
    @Override
    public String type() {
      return "drain_changed";
    }
  }

  /** A connection is closed because memory is short. */
  record ConnectionEvicted(String connection, long heldBytes, String limit) implements Advisory {
    @Override
    public String type() {
      return "connection_evicted";
    }
  }

  /**
   * Another bus of the cluster is in another state, as this one sees it.
   *
   * @param state its state now, null when it was removed from the cluster
   * @param before its state before
   */
  record BusStateChanged(String other, @Nullable String state, String before) implements Advisory {
    @Override
    public String type() {
      return "bus_state_changed";
    }
  }

  /** The bus shows another certificate to connections that begin from now on. */
  record CertificateChanged(String use, String subject, Instant expiresAt) implements Advisory {
    @Override
    public String type() {
      return "certificate_changed";
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }
  }

  /** Files of TLS have changed and cannot be used: what was in use stays. */
  record CertificateRefused(String use, String reason) implements Advisory {
    @Override
    public String type() {
      return "certificate_refused";
    }

    @Override
    public boolean belongsToAudit() {
      return true;
    }
  }
}
