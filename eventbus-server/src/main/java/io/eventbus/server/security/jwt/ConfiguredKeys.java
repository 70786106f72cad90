package io.eventbus.server.security.jwt;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Keys of files, and fetched ones. Any thread. */
final class ConfiguredKeys implements TokenKeys {
  private final List<TokenKey> fromFiles;
  private final @Nullable JwksSource source;

  ConfiguredKeys(List<TokenKey> fromFiles, @Nullable JwksSource source) {
    this.fromFiles = List.copyOf(fromFiles);
    this.source = source;
  }

  @Override
  public List<TokenKey> keys() {
    List<TokenKey> fetched = source == null ? List.of() : source.keys();
    if (fetched.isEmpty()) {
      return fromFiles;
    }
    List<TokenKey> all = new ArrayList<>(fromFiles);
    all.addAll(fetched);
    return all;
  }

  @Override
  public CompletableFuture<Boolean> lookAgain() {
    return source == null ? CompletableFuture.completedFuture(true) : source.lookAgain();
  }

  @Override
  public Object version() {
    return source == null ? fromFiles : source.version();
  }
}
