package io.eventbus.registry.ratis.join;

import io.eventbus.registry.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Source of possible addresses of other buses, asked anew at each attempt: a port for ways to find
 * them other than a list.
 *
 * <p>It is called on one thread of the registry. An implementer must not block for long, must not
 * throw, and must keep the list small.
 */
public interface SeedSource {
  /**
   * Returns the addresses to look at now.
   *
   * @return the addresses, this bus's own may be among them
   */
  List<Endpoint> seeds();

  /**
   * Returns the condition that must hold before this bus may found a cluster, beyond answers of all
   * seeds.
   *
   * @return what is missing, for people; null if nothing is
   */
  default @Nullable String missing(int buses) {
    return null;
  }
}
