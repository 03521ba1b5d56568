//! Writes the Rust code of a protocol: `messages DESCRIPTORS FOLDER`.

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<_> = std::env::args().collect();
    let descriptors = std::fs::read(&words[1])?;
    tonic_prost_build::configure()
        .build_client(false)
        .out_dir(&words[2])
        .compile_fds(prost_types::FileDescriptorSet::decode(&descriptors[..])?)?;
    Ok(())
}
