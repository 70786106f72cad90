package io.eventbus.server.admission;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Use of one connection of its address's share, and its client's address. Confined to the
 * connection's loop except for methods for any thread. At its end everything is released, and
 * nothing is counted any more.
 */
public final class ConnectionUsage implements AddressLimits {
  private final InetSocketAddress client;
  private final @Nullable Entry entry;
  private final @Nullable AuthenticationFailures failures;
  private boolean welcomed;
  private boolean closed;
  private long held;
  private long subscriptionBytes;
  private int interest;
  private long serviceBytes;

  private record Entry(AddressUsages accounts, ClientAddress address, AddressUsage account) {}

  ConnectionUsage(
      InetSocketAddress client,
      AddressUsages accounts,
      ClientAddress address,
      AddressUsage account) {
    this.client = client;
    this.failures = accounts.failures();
    this.entry = new Entry(accounts, address, account);
  }

  private ConnectionUsage(InetSocketAddress client, @Nullable AuthenticationFailures failures) {
    this.client = client;
    this.failures = failures;
    this.entry = null;
  }

  /**
   * Creates the usage of a connection without limits.
   *
   * @param client its address
   * @param failures remembers the addresses of failed authentications; null to remember none
   */
  public static ConnectionUsage unlimited(
      InetSocketAddress client, @Nullable AuthenticationFailures failures) {
    return new ConnectionUsage(client, failures);
  }

  /**
   * Returns the client's address, as far as the bus or a trusted proxy knows; a port of 0 is not
   * known. Any thread.
   */
  public InetSocketAddress client() {
    return client;
  }

  @Override
  public Object shareOf() {
    if (entry != null) {
      return entry.address;
    }
    InetAddress ip = client.getAddress();
    return ip == null ? ConnectionUsage.class : ClientAddress.of(ip);
  }

  @Override
  public boolean isExempt() {
    return entry == null;
  }

  /** Returns the client's address for people, with the port if it is known; any thread. */
  @Override
  public String toString() {
    if (client.getAddress() == null) {
      return client.toString();
    }
    return client.getPort() == 0
        ? NetUtil.toAddressString(client.getAddress())
        : NetUtil.toSocketAddressString(client);
  }

  /** Ends the handshake, because the client was welcomed. */
  public void welcomed() {
    if (!welcomed && !closed && entry != null) {
      entry.accounts.welcomed(entry.address);
    }
    welcomed = true;
  }

  /**
   * Notes a failed authentication.
   *
   * @param reason for the log, as it goes on after "a client"
   */
  public boolean authenticationFailed(String reason) {
    return failures != null
        && client.getAddress() != null
        && failures.note(client.getAddress(), reason);
  }

  @Override
  public boolean failsOften() {
    return failures != null && client.getAddress() != null && failures.isMany(client.getAddress());
  }

  /** Changes the bytes that the bus holds for this connection; negative for fewer. */
  public void held(long change) {
    if (change != 0 && !closed && entry != null) {
      held += change;
      entry.account.held.addAndGet(change);
    }
  }

  /** Sets the bytes that the bus holds for this connection. */
  public void holds(long bytes) {
    held(bytes - held);
  }

  /**
   * Returns whether the bus holds more for the clients of this address than their share; any
   * thread.
   */
  public boolean isOverShare() {
    return entry != null && entry.accounts.isOverShare(entry.account);
  }

  @Override
  public boolean acquireSubscriptionBytes(long bytes) {
    if (closed || entry == null) {
      return true;
    }
    if (!entry.accounts.acquireSubscriptionBytes(entry.account, bytes)) {
      return false;
    }
    subscriptionBytes += bytes;
    return true;
  }

  @Override
  public void releaseSubscriptionBytes(long bytes) {
    if (!closed && entry != null) {
      subscriptionBytes -= bytes;
      entry.account.subscriptionBytes.addAndGet(-bytes);
    }
  }

  @Override
  public void changeInterest(int change) {
    if (!closed && entry != null) {
      interest += change;
      entry.account.interest.addAndGet(change);
    }
  }

  @Override
  public boolean isInterestFull() {
    return entry != null && entry.accounts.isInterestFull(entry.account);
  }

  @Override
  public boolean acquireServiceBytes(long bytes) {
    if (closed || entry == null) {
      return true;
    }
    if (!entry.accounts.acquireServiceBytes(entry.account, bytes)) {
      return false;
    }
    serviceBytes += bytes;
    return true;
  }

  @Override
  public void releaseServiceBytes(long bytes) {
    if (!closed && entry != null) {
      serviceBytes -= bytes;
      entry.account.serviceBytes.addAndGet(-bytes);
    }
  }

  /** Releases everything. Does nothing the second time. */
  public void close() {
    if (closed) {
      return;
    }
    held(-held);
    releaseSubscriptionBytes(subscriptionBytes);
    changeInterest(-interest);
    releaseServiceBytes(serviceBytes);
    closed = true;
    if (entry != null) {
      entry.accounts.left(entry.address, welcomed);
    }
  }
}
