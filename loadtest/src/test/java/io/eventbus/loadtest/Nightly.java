package io.eventbus.loadtest;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** A test that takes long, for {@code mvn -Pnightly verify}. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = Nightly.PROPERTY, matches = "true")
public @interface Nightly {
  /** Whether these run. */
  String PROPERTY = "eventbus.system.long";
}
