package io.eventbus.server.advisory;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Types of advisories, with their receivers. Their names are part of the protocol. */
enum AdvisoryType {
  CLIENT_CONNECTED(Advisory.ClientConnected.class, Flag.EVENT, Flag.AUDIT, Flag.BY_CLIENT),
  CLIENT_REFUSED(Advisory.ClientRefused.class, Flag.AUDIT, Flag.BY_CLIENT),
  CLIENT_EXPIRED(Advisory.ClientExpired.class, Flag.AUDIT, Flag.BY_CLIENT),
  CLIENT_REVOKED(Advisory.ClientRevoked.class, Flag.AUDIT, Flag.BY_CLIENT),
  REVOCATION_CHANGED(Advisory.RevocationChanged.class, Flag.AUDIT),
  ACCESS_CHANGED(Advisory.AccessChanged.class, Flag.AUDIT),
  ACCESS_REFUSED(Advisory.AccessRefused.class, Flag.AUDIT),
  PERMISSION_DENIED(Advisory.PermissionDenied.class, Flag.AUDIT, Flag.BY_CLIENT),
  QUOTA_REACHED(Advisory.QuotaReached.class, Flag.EVENT, Flag.BY_CLIENT),
  ADMIN_ACTION(Advisory.AdminAction.class, Flag.AUDIT),
  CLIENT_DISCONNECTED(Advisory.ClientDisconnected.class, Flag.EVENT, Flag.AUDIT, Flag.BY_CLIENT),
  CHANGE_BEGUN(Advisory.ChangeBegun.class, Flag.EVENT),
  CHANGE_FINISHED(Advisory.ChangeFinished.class, Flag.EVENT),
  DRAIN_CHANGED(Advisory.DrainChanged.class, Flag.EVENT),
  CONNECTION_EVICTED(Advisory.ConnectionEvicted.class, Flag.EVENT),
  BUS_STATE_CHANGED(Advisory.BusStateChanged.class, Flag.EVENT),
  CERTIFICATE_CHANGED(Advisory.CertificateChanged.class, Flag.EVENT, Flag.AUDIT),
  CERTIFICATE_REFUSED(Advisory.CertificateRefused.class, Flag.EVENT, Flag.AUDIT),
  JOURNAL_CHANGED(Advisory.JournalChanged.class, Flag.EVENT, Flag.BY_CLIENT),
  JOURNAL_FULL(Advisory.JournalFull.class, Flag.EVENT),
  JOURNAL_DAMAGED(Advisory.JournalDamaged.class, Flag.EVENT),
  CONSUMER_CHANGED(Advisory.ConsumerChanged.class, Flag.EVENT, Flag.BY_CLIENT),
  SHARD_LEADER_CHANGED(Advisory.ShardLeaderChanged.class, Flag.EVENT),
  SHARD_MEMBERS_CHANGED(Advisory.ShardMembersChanged.class, Flag.EVENT),
  REPLICA_CHANGED(Advisory.ReplicaChanged.class, Flag.EVENT);

  /** Property of a type. */
  private enum Flag {
    /** Published as an event of the bus. */
    EVENT,
    /** Written to the audit log. */
    AUDIT,
    /** Caused by clients as often as they like. */
    BY_CLIENT
  }

  private static final Map<Class<? extends Advisory>, AdvisoryType> BY_CLASS = new HashMap<>();

  static {
    for (AdvisoryType type : values()) {
      BY_CLASS.put(type.advisory, type);
    }
  }

  private final Class<? extends Advisory> advisory;
  private final boolean event;
  private final boolean audited;
  private final boolean causedByClient;
  private final String text = name().toLowerCase(Locale.ROOT);

  AdvisoryType(Class<? extends Advisory> advisory, Flag... flags) {
    this.advisory = advisory;
    Set<Flag> set = Set.of(flags);
    this.event = set.contains(Flag.EVENT);
    this.audited = set.contains(Flag.AUDIT);
    this.causedByClient = set.contains(Flag.BY_CLIENT);
  }

  /**
   * Returns the type of an advisory.
   *
   * @throws IllegalStateException if its class is not listed here
   */
  static AdvisoryType of(Advisory advisory) {
    AdvisoryType type = BY_CLASS.get(advisory.getClass());
    if (type == null) {
      throw new IllegalStateException(advisory.getClass() + " has no type (expected: one)");
    }
    return type;
  }

  /** Returns the name in the protocol. */
  String text() {
    return text;
  }

  boolean isEvent() {
    return event;
  }

  boolean isAudited() {
    return audited;
  }

  boolean isCausedByClient() {
    return causedByClient;
  }
}
