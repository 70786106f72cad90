package io.eventbus.server.admission;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What one connection has of its address's share, and where its client is. Confined to the
 * connection's loop except for what is said to be for any thread. When it is closed everything is
 * given back, and nothing is counted any more.
 */
public final class ConnectionUsage {
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
   * Makes the account of a connection for which no limits hold.
   *
   * @param client where the client is
   * @param failures remembers the addresses of failed authentications; null to remember none
   */
  public static ConnectionUsage unlimited(
      InetSocketAddress client, @Nullable AuthenticationFailures failures) {
    return new ConnectionUsage(client, failures);
  }

  /**
   * Returns where the client is, as far as the bus or a proxy that it trusts knows; any thread.
   *
   * @return a port of 0 is not known
   */
  public InetSocketAddress client() {
    return client;
  }

  /**
   * Returns what all connections have in common that share the limits of one address; any thread.
   */
  public Object shareOf() {
    return entry == null ? ConnectionUsage.class : entry.address;
  }

  /**
   * Says whether the client is on this machine, so that no limits for addresses hold; any thread.
   *
   * @return true if it is exempt
   */
  public boolean isExempt() {
    return entry == null;
  }

  /**
   * Returns the client's address for people; any thread.
   *
   * @return with the port where that is known
   */
  @Override
  public String toString() {
    if (client.getAddress() == null) {
      return client.toString();
    }
    return client.getPort() == 0
        ? NetUtil.toAddressString(client.getAddress())
        : NetUtil.toSocketAddressString(client);
  }

  /** The client was welcomed: it is no unfinished handshake any more. */
  public void welcomed() {
    if (!welcomed && !closed && entry != null) {
      entry.accounts.welcomed(entry.address);
    }
    welcomed = true;
  }

  /**
   * Notes that the client could not prove who it is.
   *
   * @param reason for the log, as it goes on after "a client"
   */
  public boolean authenticationFailed(String reason) {
    return failures != null
        && client.getAddress() != null
        && failures.note(client.getAddress(), reason);
  }

  /**
   * Says whether that has happened so often lately that the next answer would be late; any thread.
   */
  public boolean failsOften() {
    return failures != null && client.getAddress() != null && failures.isMany(client.getAddress());
  }

  /**
   * Notes that the bus holds more or fewer bytes for this connection than before.
   *
   * @param change how many more; negative for fewer
   */
  public void held(long change) {
    if (change != 0 && !closed && entry != null) {
      held += change;
      entry.account.held.addAndGet(change);
    }
  }

  /**
   * Notes how many bytes the bus holds for this connection now.
   *
   * @param bytes all of them
   */
  public void holds(long bytes) {
    held(bytes - held);
  }

  /**
   * Says whether the bus holds more for the clients of this address than their share; any thread.
   *
   * @return true if it does
   */
  public boolean isOverShare() {
    return entry != null && entry.accounts.isOverShare(entry.account);
  }

  /**
   * Takes room for a subscription, if the address has some left.
   *
   * @param bytes at least 0
   * @return false if it has not; then nothing was taken
   */
  public boolean takeSubscriptionBytes(long bytes) {
    if (closed || entry == null) {
      return true;
    }
    if (!entry.accounts.takeSubscriptionBytes(entry.account, bytes)) {
      return false;
    }
    subscriptionBytes += bytes;
    return true;
  }

  /**
   * Gives back what a subscription took.
   *
   * @param bytes what was taken
   */
  public void giveSubscriptionBytes(long bytes) {
    if (!closed && entry != null) {
      subscriptionBytes -= bytes;
      entry.account.subscriptionBytes.addAndGet(-bytes);
    }
  }

  /**
   * Counts filters that other buses are told of.
   *
   * @param change how many more, or less if it is negative
   */
  public void changeInterest(int change) {
    if (!closed && entry != null) {
      interest += change;
      entry.account.interest.addAndGet(change);
    }
  }

  /**
   * Says whether other buses are told of more filters because of the address than its share of all.
   *
   * @return true if they are
   */
  public boolean isInterestFull() {
    return entry != null && entry.accounts.isInterestFull(entry.account);
  }

  /**
   * Takes room for something of services, if the address has some left.
   *
   * @param bytes at least 0
   * @return false if it has not; then nothing was taken
   */
  public boolean takeServiceBytes(long bytes) {
    if (closed || entry == null) {
      return true;
    }
    if (!entry.accounts.takeServiceBytes(entry.account, bytes)) {
      return false;
    }
    serviceBytes += bytes;
    return true;
  }

  /**
   * Gives back what something of services took.
   *
   * @param bytes what was taken
   */
  public void giveServiceBytes(long bytes) {
    if (!closed && entry != null) {
      serviceBytes -= bytes;
      entry.account.serviceBytes.addAndGet(-bytes);
    }
  }

  /** Gives everything back. Does nothing the second time. */
  public void close() {
    if (closed) {
      return;
    }
    held(-held);
    giveSubscriptionBytes(subscriptionBytes);
    changeInterest(-interest);
    giveServiceBytes(serviceBytes);
    closed = true;
    if (entry != null) {
      entry.accounts.left(entry.address, welcomed);
    }
  }
}
