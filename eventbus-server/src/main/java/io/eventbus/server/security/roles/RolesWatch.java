package io.eventbus.server.security.roles;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.security.AccessChanges;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watch of the roles file. A new version that is wrong changes nothing, and is reported until it is
 * right. Confined to one thread.
 */
public final class RolesWatch {
  private static final Duration TELL_AGAIN = Duration.ofMinutes(10);
  private static final Logger LOG = LoggerFactory.getLogger(RolesWatch.class);

  private final RolesFile file;
  private final RolePolicy policy;
  private final AccessChanges changes;
  private final RateLimitedLog warnings;
  // Problem of the last look; empty for none.
  private String lastWrong = "";

  /** Creates a watch that has not begun. */
  public RolesWatch(RolesFile file, RolePolicy policy, AccessChanges changes) {
    this(file, policy, changes, new RateLimitedLog(LOG, System::nanoTime, TELL_AGAIN));
  }

  RolesWatch(RolesFile file, RolePolicy policy, AccessChanges changes, RateLimitedLog warnings) {
    this.changes = changes;
    this.file = file;
    this.policy = policy;
    this.warnings = warnings;
  }

  /**
   * Reads the file, and takes it if it has changed and was the same the last time. Blocks for as
   * long as the file system does.
   */
  public void refresh() {
    try {
      file.readIfChanged().ifPresent(this::use);
      lastWrong = "";
    } catch (ConfigException e) {
      String wrong = String.valueOf(e.getMessage());
      warnings.warn(wrong, "the roles that were read before stay in force: {}{}", wrong);
      if (!wrong.equals(lastWrong)) {
        lastWrong = wrong;
        changes.refused(ConfigKey.AUTH_ROLES_FILE.key(), wrong);
      }
    }
  }

  private void use(Roles roles) {
    policy.use(roles);
    changes.changed(ConfigKey.AUTH_ROLES_FILE.key(), roles.summary());
    LOG.info(
        "{} was read again: {}, for clients that connect from now on",
        roles.fileName(),
        roles.summary());
  }
}
