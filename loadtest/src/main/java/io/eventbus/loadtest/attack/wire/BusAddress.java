package io.eventbus.loadtest.attack.wire;

/**
 * Address of a bus.
 *
 * @param token what clients have to show, empty for nothing
 */
public record BusAddress(int port, String path, int adminPort, boolean tls, String token) {
  /** The host of all of them. */
  public static final String HOST = "127.0.0.1";

  /**
   * Returns the same with another token.
   *
   * @param other what clients show, empty for nothing
   */
  public BusAddress withToken(String other) {
    return new BusAddress(port, path, adminPort, tls, other);
  }

  @Override
  public String toString() {
    return (tls ? "wss://" : "ws://") + HOST + ":" + port + path;
  }
}
