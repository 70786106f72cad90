package io.eventbus.server.advisory;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Something that has happened. The names of types and components are part of the protocol. */
public sealed interface Advisory {
  /**
   * Returns what kind it is.
   *
   * @return a name in lower case
   */
  String type();

  /**
   * A client was welcomed.
   *
   * @param connection number on this bus
   * @param remoteAddress the client's address and port
   * @param session id that {@code Welcome} gave
   * @param client name that the client gave in {@code Hello}
   * @param agent software that the client named in {@code Hello}
   */
  record ClientConnected(
      long connection, String remoteAddress, String session, String client, String agent)
      implements Advisory {
    @Override
    public String type() {
      return "client_connected";
    }
  }

  /**
   * A client that was welcomed has gone, or was closed.
   *
   * @param connection number on this bus
   * @param remoteAddress the client's address and port
   * @param session id that {@code Welcome} gave
   * @param client name that the client gave in {@code Hello}
   * @param connectedAt when it was welcomed
   * @param eventsReceived events that it had published
   * @param eventsSent events that were sent to it
   */
  record ClientDisconnected(
      long connection,
      String remoteAddress,
      String session,
      String client,
      Instant connectedAt,
      long eventsReceived,
      long eventsSent)
      implements Advisory {
    @Override
    public String type() {
      return "client_disconnected";
    }
  }

  /**
   * A client was asked to go on at another bus.
   *
   * @param connection number on this bus
   * @param to name of the other bus
   * @param reason {@code ChangeBus.reason}
   */
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

  /**
   * A client that was asked to go on at another bus has gone, or stays.
   *
   * @param connection number on this bus
   * @param to name of the other bus
   * @param outcome what became of it
   */
  record ChangeFinished(long connection, String to, ChangeOutcome outcome) implements Advisory {
    @Override
    public String type() {
      return "change_finished";
    }
  }

  /**
   * This bus begins to move all of its clients to others, or takes clients again.
   *
   * @param draining which of the two
   */
  record DrainChanged(boolean draining) implements Advisory {
    @Override
    public String type() {
      return "drain_changed";
    }
  }

  /**
   * A connection is closed because memory is short.
   *
   * @param connection its address, for people
   * @param heldBytes what is held for it
   * @param limit which limit is reached, for people
   */
  record ConnectionEvicted(String connection, long heldBytes, String limit) implements Advisory {
    @Override
    public String type() {
      return "connection_evicted";
    }
  }

  /**
   * Another bus of the cluster is in another state, as this one sees it.
   *
   * @param other name of the other bus
   * @param state its state now, null when it was removed from the cluster
   * @param before its state before
   */
  record BusStateChanged(String other, @Nullable String state, String before) implements Advisory {
    @Override
    public String type() {
      return "bus_state_changed";
    }
  }

  /**
   * The bus shows another certificate to connections that begin from now on.
   *
   * @param use what for: {@code listen}, {@code link} or {@code admin}
   * @param subject the distinguished name in it
   * @param expiresAt the end of its validity
   */
  record CertificateChanged(String use, String subject, Instant expiresAt) implements Advisory {
    @Override
    public String type() {
      return "certificate_changed";
    }
  }

  /**
   * Files of TLS have changed and cannot be used: what was in use stays.
   *
   * @param use what for: {@code listen}, {@code link} or {@code admin}
   * @param reason which file, and what was expected of it
   */
  record CertificateRefused(String use, String reason) implements Advisory {
    @Override
    public String type() {
      return "certificate_refused";
    }
  }
}
