package io.eventbus.client;

import java.util.Objects;

/**
 * Options of a stream or tunnel; immutable.
 *
 * @param request options of the request that finds a member; the time-out is for its answer, and
 *     nothing afterwards
 * @param windowBytes bytes that the other end may send before they are read, 4 KiB to 64 MiB;
 *     default 256 KiB. It grows to {@code mostWindowBytes} while this end reads faster than it gets
 * @param mostWindowBytes the maximum of the window; default 4 MiB, which is what a bus accepts
 * @param messageBytes the longest message that {@link Tunnel#messages} puts together, at least 1;
 *     default 16 MiB
 * @param bufferBytes maximum size of messages that wait to be sent before {@link Tunnel#send} has
 *     to wait, at least 1; default 256 KiB
 */
public record TunnelOptions(
    RequestOptions request,
    int windowBytes,
    int mostWindowBytes,
    int messageBytes,
    int bufferBytes) {
  /** Options with the defaults above. */
  public static final TunnelOptions DEFAULT =
      new TunnelOptions(RequestOptions.DEFAULT, 256 << 10, 4 << 20, 16 << 20, 256 << 10);

  /**
   * Checks the parts.
   *
   * @param request as above
   * @param windowBytes as above
   * @param mostWindowBytes as above
   * @param messageBytes as above
   * @param bufferBytes as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public TunnelOptions {
    Objects.requireNonNull(request, "request");
    Checks.range("windowBytes", windowBytes, 4 << 10, 64 << 20);
    Checks.range("mostWindowBytes", mostWindowBytes, windowBytes, 64 << 20);
    Checks.range("messageBytes", messageBytes, 1, Integer.MAX_VALUE);
    Checks.range("bufferBytes", bufferBytes, 1, Integer.MAX_VALUE);
  }

  /**
   * Returns options with another request.
   *
   * @param newRequest the options
   * @return new options
   */
  public TunnelOptions withRequest(RequestOptions newRequest) {
    return new TunnelOptions(newRequest, windowBytes, mostWindowBytes, messageBytes, bufferBytes);
  }

  /**
   * Returns options with another window.
   *
   * @param newWindowBytes at first
   * @param newMostWindowBytes at most
   * @return new options
   */
  public TunnelOptions withWindow(int newWindowBytes, int newMostWindowBytes) {
    return new TunnelOptions(
        request, newWindowBytes, newMostWindowBytes, messageBytes, bufferBytes);
  }

  /**
   * Returns options with another maximum message size.
   *
   * @param newMessageBytes at least 1
   * @return new options
   */
  public TunnelOptions withMessageBytes(int newMessageBytes) {
    return new TunnelOptions(request, windowBytes, mostWindowBytes, newMessageBytes, bufferBytes);
  }

  /**
   * Returns options with another buffer size.
   *
   * @param newBufferBytes at least 1
   * @return new options
   */
  public TunnelOptions withBufferBytes(int newBufferBytes) {
    return new TunnelOptions(request, windowBytes, mostWindowBytes, messageBytes, newBufferBytes);
  }
}
