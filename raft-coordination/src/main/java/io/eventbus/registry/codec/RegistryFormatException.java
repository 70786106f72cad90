package io.eventbus.registry.codec;

import java.io.IOException;

/**
 * Bytes are not what the registry writes: damaged, hostile, or of a later version of the software.
 * Reading them again does not help.
 */
public final class RegistryFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Makes the error. */
  public RegistryFormatException(String message) {
    super(message);
  }

  /** Makes the error. */
  public RegistryFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
